/** What was thrown, which may be anything: `catch` knows no type. */

export const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

/** The code of an error of the system, such as ENOENT. */
export const codeOf = (cause: unknown): string | undefined => {
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined
  // That of a DOMException is a number, and its name says more.
  return typeof code === "string" ? code : undefined
}
