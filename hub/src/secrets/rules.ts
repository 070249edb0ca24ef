// Rules for names and values of secrets, used by all stores.

import { HubError } from "../errors.ts";

const SECRET_NAME_MAX = 256;
const SECRET_VALUE_MAX_BYTES = 64 * 1024;

/** Throws if name or value is not allowed. The error never contains the value. */
export function requireSecret(name: string, value: string): void {
  if (name === "") throw new HubError("InvalidArgument", "Secret name is required", { field: "name" });
  if (Array.from(name).length > SECRET_NAME_MAX) {
    throw new HubError("InvalidArgument", `Secret name is longer than ${SECRET_NAME_MAX} characters`, {
      field: "name",
    });
  }
  if (/[\p{Cc}\p{Cs}]/u.test(name)) {
    throw new HubError("InvalidArgument", "Secret name must not contain control characters", { field: "name" });
  }
  // Neither environment variables nor headers can contain these.
  if (/\0|\p{Cs}/u.test(value)) {
    throw new HubError("InvalidArgument", "A secret must be text without NUL characters", { field: "value" });
  }
  if (Buffer.byteLength(value) > SECRET_VALUE_MAX_BYTES) {
    throw new HubError("InvalidArgument", `A secret must not be larger than ${SECRET_VALUE_MAX_BYTES / 1024} KiB`, {
      field: "value",
    });
  }
}
