"""Count the words of the training captions, for the views that show how often each was seen.

    python -m shipping.caption_words

Writes `gates2heads/data/corpora/caption_words.json.gz`: for each word how often it occurs in the
29,000 German or English captions. It takes some seconds, and each run writes the same bytes.
"""

from gates2heads.data.corpora.caption_words import FILE, LANGUAGES, caption_words, pack, to_bytes
from gates2heads.data.corpora.multi30k import multi30k
from gates2heads.training.files import write_whole


def main() -> None:
    """Write the file and say how large it is."""
    content = to_bytes(pack(multi30k("train")))
    write_whole(FILE, lambda file: file.write(content))
    words = " and ".join(f"{len(caption_words(one)):,} {one.capitalize()}" for one in LANGUAGES)
    print(f"{FILE}: {words} words, {len(content):,} bytes")


if __name__ == "__main__":
    main()
