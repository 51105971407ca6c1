"""Drive a `predict` view: nothing is told before the reader commits, and then all of it is."""

from collections.abc import Iterator

from playwright.sync_api import Locator, Page, expect

MARKS = str.maketrans("", "", "`*")  # which the view turns into type


def drive_predict(page: Page, root: Locator, traits: dict) -> None:
    """Answer each question wrongly by keyboard, then, in a quiz, again and rightly by mouse."""
    questions, forms = traits["questions"], root.locator("form").all()
    assert len(forms) == len(questions)
    root.scroll_into_view_if_needed()
    check_nothing_is_told(root, traits)
    for place, (form, question) in enumerate(zip(forms, questions, strict=True)):
        expect(root.locator(".g2h-result svg, .g2h-result table")).to_have_count(0)
        if "options" in question:
            miss = next(i for i, option in enumerate(question["options"]) if not option["right"])
            choose_by_keyboard(page, form, miss)
            check_options(form, question, miss)
        else:
            guess(form, question, question["low"])
            check_guess(form, question, question["low"])
        expect(form.locator(".g2h-verdict")).to_be_focused()
        check_score(root, len(questions), place + 1, 0)
    check_result(root, traits["result"])
    if len(questions) == 1:
        expect(root.get_by_role("button", name="Ask me again")).to_be_hidden()
        return
    root.get_by_role("button", name="Ask me again").click()
    expect(forms[0].locator("input").first).to_be_focused()
    check_nothing_is_told(root, traits)
    for form, question in zip(forms, questions, strict=True):
        if "options" in question:
            right = next(i for i, option in enumerate(question["options"]) if option["right"])
            form.locator("label").nth(right).click()
            form.get_by_role("button", name="Commit").click()
            check_options(form, question, right)
        else:
            guess(form, question, question["answer"])
            check_guess(form, question, question["answer"])
    check_score(root, len(questions), len(questions), len(questions))
    check_result(root, traits["result"])


def answer_all(root: Locator) -> Iterator[None]:
    """Answer what is still open; yield before each answer and after the last."""
    for form in root.locator("form").all():
        yield
        commit = form.get_by_role("button", name="Commit")
        if not commit.is_visible():
            continue
        form.locator("input").first.focus()
        form.page.keyboard.press("Space")
        form.page.keyboard.press("ArrowRight")
        commit.click()
    yield


def check_nothing_is_told(root: Locator, traits: dict) -> None:
    seen = root.inner_text()
    for question in traits["questions"]:
        assert question["text"].translate(MARKS) in seen
        for option in question.get("options", [question]):
            assert option["reason"].translate(MARKS) not in seen
            assert option.get("answer") is not None
            assert "options" not in question or option["answer"] in seen
    for commit in root.get_by_role("button", name="Commit").all():
        expect(commit).to_be_disabled()
    expect(root.locator(".g2h-result svg, .g2h-result table")).to_have_count(0)
    expect(root.locator(".g2h-lid")).to_have_count(1 if traits["result"] else 0)


def choose_by_keyboard(page: Page, form: Locator, place: int) -> None:
    radios = form.get_by_role("radio")
    expect(radios.nth(place)).to_be_enabled()
    radios.first.focus()
    page.keyboard.press("Space")
    for _ in range(place):
        page.keyboard.press("ArrowDown")
    expect(radios.nth(place)).to_be_checked()
    page.keyboard.press("Enter")


def check_options(form: Locator, question: dict, chosen: int) -> None:
    """Each option has its reason and, in words, whether it is right."""
    for place, option in enumerate(question["options"]):
        label = form.locator("label").nth(place)
        text = label.inner_text()
        assert option["answer"].translate(MARKS) in text
        assert option["reason"].translate(MARKS) in text
        assert ("✓" in text) == option["right"]
        assert ("your answer: incorrect" in text) == (place == chosen and not option["right"])
        assert ("your answer" in text) == (place == chosen)
        expect(form.get_by_role("radio").nth(place)).to_be_disabled()
    right = question["options"][chosen]["right"]
    answer = next(option["answer"] for option in question["options"] if option["right"])
    said = "Correct." if right else f"The correct answer is: {answer.translate(MARKS)}"
    expect(form.locator(".g2h-verdict")).to_have_text(said)


def guess(form: Locator, question: dict, number: float) -> None:
    """Move the slider; where it stood already, go there and back."""
    slider = form.locator("input[type=range]")
    slider.fill(str(question["high"]))
    slider.fill(str(number))
    expect(form.locator("output")).to_have_text(said_number(number, question["unit"]))
    form.get_by_role("button", name="Commit").click()


def said_number(number: float, unit: str) -> str:
    return f"{number:g} {unit}".strip()


def check_guess(form: Locator, question: dict, number: float) -> None:
    truth, unit, within = question["answer"], question["unit"], question["within"]
    text = form.locator(".g2h-verdict").inner_text()
    assert text.startswith(f"Your answer: {said_number(number, unit)}")
    if number == truth:
        assert text.endswith(", which is correct.")
    else:
        side = "high" if number > truth else "low"
        assert f"The correct answer is {said_number(truth, unit)} (" in text
        assert f"{said_number(abs(number - truth), unit)} too {side}" in text
        assert ("close enough" in text) == (abs(number - truth) <= within)
    assert question["reason"].translate(MARKS) in form.inner_text()
    track = form.locator(".g2h-track").bounding_box()
    middle = {
        name: (box := form.locator(f".g2h-{name}").bounding_box())["x"] + box["width"] / 2
        for name in ("yours", "truth")
    }
    for name, value in (("yours", number), ("truth", truth)):
        share = (value - question["low"]) / (question["high"] - question["low"])
        assert abs(middle[name] - track["x"] - share * track["width"]) < 1


def check_score(root: Locator, questions: int, answered: int, right: int) -> None:
    score = root.locator("> .g2h-live")
    if questions == 1:
        expect(score).to_be_hidden()
    elif answered < questions:
        expect(score).to_have_text(f"{answered} of {questions} answered.")
    elif right == questions:
        expect(score).to_have_text(f"All {right} correct.")
    else:
        expect(score).to_contain_text(f"{right} of {questions} correct. Worth another look: ")


def check_result(root: Locator, result: dict) -> None:
    """The drawing, the table or the text stands open."""
    opened = root.locator(".g2h-result")
    expect(root.locator(".g2h-lid")).to_have_count(0)
    if "svg" in result:
        expect(opened.get_by_role("img", name=result["alt"]).first).to_be_visible()
        expect(opened.locator("svg")).to_be_visible()
    if "rows" in result:
        cells = [row.locator("th, td").all_inner_texts() for row in opened.locator("tr").all()]
        assert cells == [[word.translate(MARKS) for word in row] for row in result["rows"]]
    if result.get("text"):
        expect(opened).to_contain_text(result["text"].translate(MARKS))
