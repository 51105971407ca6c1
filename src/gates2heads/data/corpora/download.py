"""Downloaded files: a registry with checksums, and a cache."""

import os
from pathlib import Path

import pooch
import requests

from gates2heads.accepts import accepts, flag
from gates2heads.accepts.shown import in_line, shown

MULTI30K = (
    "https://raw.githubusercontent.com/multi30k/dataset/"
    "a3d2e0d26b56f3846f66a952536ffed4e401d05a/data/task1/raw/"
)
DESCRIPTIONS = MULTI30K.replace("task1", "task2")
WORD_SIM = (
    "https://raw.githubusercontent.com/mfaruqui/eval-word-vectors/"
    "94b3dd9fdbac7ed08dbee7179cd5ee464acf0594/data/word-sim/"
)
WORD2VEC = (
    "https://raw.githubusercontent.com/tmikolov/word2vec/20c129af10659f7c50e86e3be406df663beff438/"
)
# file: (address upstream, at a fixed commit; SHA-256)
REGISTRY = {
    "multi30k/train.de.gz": (
        f"{MULTI30K}train.de.gz",
        "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6",
    ),
    "multi30k/train.en.gz": (
        f"{MULTI30K}train.en.gz",
        "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f",
    ),
    "multi30k/val.de.gz": (
        f"{MULTI30K}val.de.gz",
        "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a",
    ),
    "multi30k/val.en.gz": (
        f"{MULTI30K}val.en.gz",
        "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28",
    ),
    "multi30k/test_2016_flickr.de.gz": (
        f"{MULTI30K}test_2016_flickr.de.gz",
        "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8",
    ),
    "multi30k/test_2016_flickr.en.gz": (
        f"{MULTI30K}test_2016_flickr.en.gz",
        "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9",
    ),
    "multi30k/descriptions/train.1.de.gz": (
        f"{DESCRIPTIONS}train.1.de.gz",
        "0002241b52aba5160c08d644ea0d64a9bf46a2dfffcf619c9e3cdaa55b357004",
    ),
    "multi30k/descriptions/train.2.de.gz": (
        f"{DESCRIPTIONS}train.2.de.gz",
        "ac7c29258b90aec0b64d677c5bfc831fc402e6296d0aa9cc7a3433ddbff85c37",
    ),
    "multi30k/descriptions/train.3.de.gz": (
        f"{DESCRIPTIONS}train.3.de.gz",
        "ec5e6508813814aa31311b34e26e24f903dd7701f8d0668313259b7f975d7aa0",
    ),
    "multi30k/descriptions/train.4.de.gz": (
        f"{DESCRIPTIONS}train.4.de.gz",
        "bcee8ac6eb47d8a7dc8cff47d9a0fbd80b4363cfda22021bacd297f9604221a4",
    ),
    "multi30k/descriptions/train.5.de.gz": (
        f"{DESCRIPTIONS}train.5.de.gz",
        "dccb0ca6ff25e0b1f0d385f59fb809184e0db89622d88371725e3ec46d43bfc0",
    ),
    "multi30k/descriptions/train.1.en.gz": (
        f"{DESCRIPTIONS}train.1.en.gz",
        "a0e057f07a9733199c0d755d77f6d583dc6f40a3180734b1130a216e2fdf3a3b",
    ),
    "multi30k/descriptions/train.2.en.gz": (
        f"{DESCRIPTIONS}train.2.en.gz",
        "d79dd70a9eafb2d1fe40151621278c4ae69b3c148c5052a53d7c7a41bf3ba023",
    ),
    "multi30k/descriptions/train.3.en.gz": (
        f"{DESCRIPTIONS}train.3.en.gz",
        "86e16fdcc699bcb6bca0f87c3cf1051f7de5ee3674dd588cedc5200194282749",
    ),
    "multi30k/descriptions/train.4.en.gz": (
        f"{DESCRIPTIONS}train.4.en.gz",
        "3771b84e010ad6197806d2a1188cb07c12149e3e0d178dd5966dee5763733686",
    ),
    "multi30k/descriptions/train.5.en.gz": (
        f"{DESCRIPTIONS}train.5.en.gz",
        "73988689307fe836994eae59735dc840c15da9775455fa76e6ed22606a042a91",
    ),
    "word-similarity/EN-WS-353-ALL.txt": (
        f"{WORD_SIM}EN-WS-353-ALL.txt",
        "ce12919b240af45bdf46d243601eaca2b6212b159b5e7e9b435ee7ee40c5619c",
    ),
    "word-similarity/EN-SIMLEX-999.txt": (
        f"{WORD_SIM}EN-SIMLEX-999.txt",
        "405394ffb7d25f6d0e3c041f87c9f27d29dc6b047506769953e85c4523b11685",
    ),
    "word-similarity/EN-MEN-TR-3k.txt": (
        f"{WORD_SIM}EN-MEN-TR-3k.txt",
        "888b13580faa362c7b11da0a670258cf1b1eb4bf0ecbcd418918729a3bd3f43a",
    ),
    "word-similarity/EN-RG-65.txt": (
        f"{WORD_SIM}EN-RG-65.txt",
        "c243f3a91c3f5d8cf67f21a67f6fb80bde8b6bb060851a6a48e6f2d68ec98c9f",
    ),
    "word-similarity/questions-words.txt": (
        f"{WORD2VEC}questions-words.txt",
        "8c29b3332afc46f3fb8be04cb5297bf96f39aa7131272dff57869b4485b22a36",
    ),
}
FOLDER = "GATES2HEADS_DATA"  # environment variable: a folder with these files, searched first
TIMEOUT = 30  # seconds without an answer


@accepts(progress=flag)
def fetch(name: str, *, progress: bool = True) -> Path:
    """Find a file in `$GATES2HEADS_DATA` or in the cache; download it into the cache if need be.

    A download is written to a temporary file and renamed only if its checksum is correct, so an
    interrupted download leaves no file. A damaged file in the cache is downloaded again.

    Args:
        name: a file of `REGISTRY`.
        progress: show a bar during the download.

    Returns:
        The path of a file whose checksum was just verified.

    Raises:
        ValueError: the file is unknown, or that in `$GATES2HEADS_DATA` or the downloaded one has
            another checksum.
        ConnectionError: the file cannot be reached.
    """
    if name not in REGISTRY:
        raise ValueError(f"name must be a file of REGISTRY, got {shown(name)}")
    address, checksum = REGISTRY[name]
    given = os.environ.get(FOLDER)
    if given and (Path(given) / name).is_file():
        return verified(Path(given) / name, checksum)
    cache = pooch.create(
        path=cache_folder(), base_url="", registry={name: checksum}, urls={name: address}
    )
    pooch.get_logger().setLevel("WARNING")  # the bar says enough
    try:
        download = pooch.HTTPDownloader(progressbar=progress, timeout=TIMEOUT)
        return Path(cache.fetch(name, downloader=download))
    except requests.RequestException as error:
        raise ConnectionError(
            f"{name} could not be downloaded from {address} ({type(error).__name__}); connect to "
            f"the network once, or set {FOLDER} to a folder that holds it"
        ) from None
    except ValueError:
        raise ValueError(
            f"{name} came from {address} with a wrong checksum; try again, or set {FOLDER} to a "
            "folder that holds it"
        ) from None


def cache_folder() -> Path:
    """The folder of downloads: the operating system's cache folder."""
    return Path(pooch.os_cache("gates2heads"))


def verified(path: Path, checksum: str) -> Path:
    """Return the path if the file's SHA-256 is correct.

    Raises:
        ValueError: it is not.
    """
    found = pooch.file_hash(str(path))
    if found != checksum:
        raise ValueError(
            f"path {in_line(path)} must have the SHA-256 {checksum[:16]}…, got {found[:16]}…; it "
            "is damaged or another version"
        )
    return path
