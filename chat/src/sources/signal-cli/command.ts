// The command that starts the signal-cli daemon of a source, used in errors, `add signal` and the docs.

/** @example daemonCommand({ url: "http://127.0.0.1:8080" }) */
export function daemonCommand({
  url,
  account,
}: {
  readonly url: string;
  readonly account?: string | undefined;
}): string {
  const { hostname, port, protocol } = new URL(url);
  const socket = `${hostname}:${port || (protocol === "https:" ? "443" : "80")}`;
  const who = account === undefined ? "" : `-a ${shellWord(account)} `;
  return `signal-cli ${who}daemon --http ${shellWord(socket)} --receive-mode on-connection`;
}

function shellWord(word: string): string {
  return /^[\w+.:@%/-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
