"""The pages may be published when the tagged release holds what they show."""

import pytest

from tools.publishing.release import faults, git

CONFIG = "repository: {{url: '{url}'}}\nhtml: {{baseurl: ''}}\n"


@pytest.fixture
def checkout(tmp_path):
    """A book of one chapter and one module, with a release."""
    files = {
        "_config.yml": CONFIG.format(url="https://github.com/a/b"),
        "pyproject.toml": 'version = "1.2.3"\n',
        "src/a.py": "one\n",
        "chapters/01.ipynb": "{}\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    git(tmp_path, "init", "-q")
    for key, value in (("user.name", "a"), ("user.email", "a@example.org")):
        git(tmp_path, "config", key, value)
    commit(tmp_path)
    git(tmp_path, "tag", "v1.2.3")
    return tmp_path


def commit(folder):
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "a")


def test_a_release_and_changes_of_its_text_may_be_published(checkout):
    assert faults(checkout) == []
    (checkout / "chapters" / "01.ipynb").write_text("{ }\n")
    commit(checkout)
    assert faults(checkout) == []


def test_a_book_without_an_address_may_not(checkout):
    (checkout / "_config.yml").write_text(CONFIG.format(url=""))
    (found,) = faults(checkout)
    assert found.startswith("The book has no address: make repository URL=")


def test_a_version_without_a_tag_may_not(checkout):
    (checkout / "pyproject.toml").write_text('version = "1.2.4"\n')
    commit(checkout)
    assert faults(checkout) == ["There is no tag v1.2.4: git tag v1.2.4 && git push origin v1.2.4"]


def test_a_new_chapter_or_another_library_needs_a_release(checkout):
    (checkout / "chapters" / "02.ipynb").write_text("{}\n")
    (checkout / "src" / "a.py").write_text("two\n")
    (checkout / "src" / "b.py").write_text("three\n")
    commit(checkout)
    one, other = faults(checkout)
    assert one.startswith("chapters/02.ipynb is not in v1.2.3: raise the version")
    assert other.startswith("The library differs from v1.2.3 in 2 files: raise the version")
