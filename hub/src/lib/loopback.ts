// Whether an address is one of this machine.

/** Compared as text: parsers accept more spellings than are safe. IPv6 with or without brackets. */
export function isLoopbackHost(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/.test(host);
}
