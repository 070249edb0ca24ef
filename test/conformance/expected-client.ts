// Scenarios that the hub does not pass as a client, with reasons: none. An entry whose scenario passes fails the run: remove it.

export const EXPECTED_OF_CLIENT: ReadonlyMap<string, string> = new Map();
