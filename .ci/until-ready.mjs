/** Waits until a server answers 200 at a URL; fails where its process ends before, or after two minutes. */
const [url, pid] = process.argv.slice(2);

for (const end = Date.now() + 120_000; ;) {
  const answer = await fetch(url).catch(() => undefined);
  if (answer?.status === 200) break;
  try {
    process.kill(Number(pid), 0);
  } catch {
    throw new Error(`The server ended before ${url} answered.`);
  }
  if (Date.now() > end)
    throw new Error(`${url} did not answer 200 within two minutes; its last answer was ${answer?.status}.`);
  await new Promise((wait) => setTimeout(wait, 200));
}
