// Whether an address is on this very machine: only there may credentials go without TLS.

/** By its text, as the listener does: parsers take more for loopback than is. */
export function isLoopback({ hostname }: URL): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}
