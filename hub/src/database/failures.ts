// What the driver throws, as errors of the hub. A database that cannot be reached is a passing state; a statement that it rejects is
// a defect or a wrong setup.

import pg from "pg";
import { HubError } from "../errors.ts";

/** Classes of SQLSTATE by which the server says that it cannot work now: connection, resources, operator, system. */
const UNAVAILABLE_CLASSES = ["08", "53", "57", "58"];
/** Serialization failure, deadlock, and a standby that only reads: another attempt may succeed. */
const UNAVAILABLE = ["40001", "40P01", "25006"];
const LOCK_NOT_AVAILABLE = "55P03";
const NO_SCHEMA = ["3F000", "42P01"];
const REFUSED_CLASS = "28";
const NO_DATABASE = "3D000";

/** The SQLSTATE of an error of the server. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}

/** @param where the database, for messages */
export function toDatabaseError(error: unknown, where: string): HubError {
  if (error instanceof HubError) return error;
  const detail = error instanceof Error ? error.message || error.name : String(error);
  const code = sqlState(error);
  // Without a code the server has not answered: no connection, a lost one, or a time limit.
  const isAway = code === undefined || UNAVAILABLE.includes(code) || UNAVAILABLE_CLASSES.includes(code.slice(0, 2));
  if (isAway) {
    return new HubError("DatabaseUnavailable", `The database ${where} cannot be used now`, { detail, cause: error });
  }
  if (code === LOCK_NOT_AVAILABLE) {
    return new HubError("Locked", "Another hub is changing this", { hint: "Try again", cause: error });
  }
  if (code.startsWith(REFUSED_CLASS) || code === NO_DATABASE) {
    const hint = "Correct database.url in hub.json, or PLUGBOARD_DATABASE_URL";
    return new HubError("InvalidConfig", `The database ${where} refuses the hub`, { detail, hint, cause: error });
  }
  if (NO_SCHEMA.includes(code)) {
    const hint = "Prepare it once: plugboard cluster init";
    return new HubError("InvalidConfig", `The database ${where} is not prepared for Plugboard`, {
      detail,
      hint,
      cause: error,
    });
  }
  return new HubError("DatabaseError", `The database ${where} rejects a statement`, { detail, cause: error });
}
