// What a secret may be called and how large it may be, the same for every adapter.

import { HubError } from "../errors.ts";

const SECRET_NAME_MAX = 256;
const SECRET_VALUE_MAX_BYTES = 64 * 1024;

/** Refuses what no adapter may store. The value is never part of the error. */
export function requireSecret(name: string, value: string): void {
  if (name === "") throw new HubError("InvalidConfig", "Secret name is required", { field: "name" });
  if (Array.from(name).length > SECRET_NAME_MAX) {
    throw new HubError("InvalidConfig", `Secret name is longer than ${SECRET_NAME_MAX} characters`, { field: "name" });
  }
  if (/[\p{Cc}\p{Cs}]/u.test(name)) {
    throw new HubError("InvalidConfig", "Secret name must not contain control characters", { field: "name" });
  }
  // It will stand in an environment or a header, where neither can be.
  if (/\0|\p{Cs}/u.test(value)) {
    throw new HubError("InvalidConfig", "A secret must be text without NUL characters", { field: "value" });
  }
  if (Buffer.byteLength(value) > SECRET_VALUE_MAX_BYTES) {
    throw new HubError("InvalidConfig", `A secret is at most ${SECRET_VALUE_MAX_BYTES / 1024} KiB`, { field: "value" });
  }
}
