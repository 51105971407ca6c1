"""The search page: which page a query leads to first, over http and from disk."""

from urllib.parse import quote

import pytest

from tests.chromium.sites import ROOT, served

pytestmark = [pytest.mark.browser, pytest.mark.book]
BUILT = ROOT / "_build" / "html"
FIRST = {
    "beam search": "08_decoding",
    "softmax temperature": "08_decoding",
    "nucleus sampling": "08_decoding",
    "length penalty": "08_decoding",
    "positional encoding": "06_self_attention",
    "multi-head attention": "06_self_attention",
    "causal mask": "06_self_attention",
    "BPE": "03_sequence_probability",
    "perplexity": "03_sequence_probability",
    "smoothing": "03_sequence_probability",
    "layer normalization": "07_transformer",  # the book writes "normalisation"
    "residual connection": "07_transformer",
    "KV cache": "07_transformer",  # chapter 12 measures what it saves
    "induction head": "13_size_and_context",
    "scaling law": "13_size_and_context",
    "BLEU": "09_evaluation",
    "ROUGE": "09_evaluation",
    "attention": "05_attention",
    "word2vec": "02_word_vectors",
    "negative sampling": "02_word_vectors",
    "LSTM": "01_recurrent_gates",
    "GRU": "01_recurrent_gates",
    "vanishing gradient": "01_recurrent_gates",
    "teacher forcing": "04_sequence_to_sequence",
    "encoder decoder": "04_sequence_to_sequence",
    "masked language model": "11_pretraining",
    "fine-tuning": "11_pretraining",
    "speculative decoding": "08_decoding_further",
}
MISSPELT = {
    "transfomer": ("transformer", "07_transformer"),
    "beem search": ("beam search", "08_decoding"),
    "perplexty": ("perplexity", "03_sequence_probability"),
    "postional encoding": ("positional encoding", "06_self_attention"),
    "atention": ("attention", "05_attention"),
}
ENTRIES = {  # what the glossary says of a term is among the first two
    "beam search": "term-beam-search",
    "GRU": "term-gated-recurrent-unit",
    "多头注意力": "term-multi-head-attention",
    "束搜索": "term-beam-search",
}


@pytest.fixture(params=["http", "file"])
def ask(request, open_page):
    """Search for a query; give the status line and, for each result, address, title and excerpt."""
    if not (BUILT / "search.html").is_file():
        pytest.fail("there is no built book: run make book first", pytrace=False)
    with served(BUILT, request.param) as site:
        page = open_page(site, "search.html")

        def asked(query):
            page.goto(f"{site}search.html?q={quote(query)}")
            page.locator("#search-results .search-summary").wait_for()
            found = page.eval_on_selector_all(
                "#search-results > ol > li",
                """items => items.map((item) => {
                     const link = item.querySelector("a");
                     return [link.getAttribute("href"), link.textContent,
                             item.querySelector(".context")?.textContent ?? "",
                             item.querySelectorAll("mark").length];
                   })""",
            )
            return page.locator("#search-results .search-summary").inner_text(), found

        yield asked


def page_of(found):
    return found[0].partition(".html")[0].removeprefix("chapters/")


def test_the_page_that_teaches_a_thing_comes_first(ask):
    wrong = {}
    for query, wanted in FIRST.items():
        _, found = ask(query)
        if not found or page_of(found[0]) != wanted:
            wrong[query] = [address for address, *_ in found[:3]]
    assert wrong == {}


def test_a_misspelt_word_is_found_and_the_page_says_so(ask):
    for query, (meant, wanted) in MISSPELT.items():
        status, found = ask(query)
        assert page_of(found[0]) == wanted, (query, found[:3])
        assert f"“{query}”" in status
        assert f"“{meant}”" in status


def test_the_glossarys_entry_is_among_the_first_two(ask):
    for query, anchor in ENTRIES.items():
        _, found = ask(query)
        assert any(address.endswith(f"glossary.html#{anchor}") for address, *_ in found[:2]), query
        if not query.isascii():
            assert found[0][0].endswith(f"glossary.html#{anchor}")


def test_an_excerpt_is_the_passage_with_the_words(ask):
    for query in ("beam search", "KV cache", "negative sampling"):
        _, found = ask(query)
        _, title, excerpt, marked = found[0]
        assert " › " in title, query
        assert marked >= 2, query
        assert all(word in excerpt.lower() for word in query.lower().split()[:1]), excerpt
        assert len(excerpt) < 320


def test_links_of_results_lead_to_sections_that_are_there(ask):
    for query in ("beam search", "GPT"):
        _, found = ask(query)
        for address, *_ in found:
            path, _, anchor = address.partition("#")
            text = (BUILT / path).read_text(encoding="utf-8")
            assert not anchor or f'id="{anchor}"' in text, address


def test_what_the_book_does_not_have_is_said(ask):
    status, found = ask("zygomorphic xylophone")
    assert found == []
    assert status.startswith("Nothing in the book matches")
