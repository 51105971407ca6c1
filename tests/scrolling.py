"""How a reader goes through a page: what is far from the window is laid out when it comes near."""

TO_THE_END = """async () => {
  const end = () => document.documentElement.scrollHeight;
  for (let y = 0; y < end(); y += innerHeight) {
    scrollTo(0, y);
    await new Promise((done) => {
      requestAnimationFrame(() => setTimeout(done, 30));
      setTimeout(done, 500); // a browser without a screen may skip a frame
    });
  }
}"""
