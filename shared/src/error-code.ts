/** The code of a failed system call. @example errorCode(error) === "ENOENT" */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
