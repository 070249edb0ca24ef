// Whether an address is on this machine: only there may credentials be sent without TLS.

/** Compares text, as the listener does: parsers accept more spellings than are safe. */
export function isLoopback({ hostname }: URL): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}
