/** What a client is expected to make of a link. */
export type Expected = "fetched" | "gone" | "refused" | "not public" | "failed" | "too large"

/** What may be wrong with a link, and what a client is expected to make of it. The order is part of each link. */
export const troubles = {
  none: "fetched",
  /** One to three redirects, and then the file. */
  redirect: "fetched",
  loop: "failed",
  redirectPrivate: "not public",
  redirectFile: "not public",
  /** The link itself has a private address. */
  private: "not public",
  /** Lists show it with a signature that has expired, a single read with a fresh one. */
  expired: "fetched",
  missing: "gone",
  removed: "gone",
  forbidden: "refused",
  /** Two errors, and then the file. */
  flaky: "fetched",
  slow: "fetched",
  /** The first connection ends in the middle of the body. */
  cut: "fetched",
  /** The header promises more bytes than the body has. */
  short: "failed",
  /** A picture that is announced as a page, and a page that is announced as a picture. */
  pictureAsPage: "fetched",
  pageAsPicture: "fetched",
  /** A compressed body that nobody requested, which inflates to a gigabyte. */
  bomb: "too large",
  /** A body without a length, and without an end. */
  endless: "too large",
  /** A name that leads out of the folder. */
  name: "fetched",
  /** Headers, and never a body. Only `POST /__sandbox/files` sets it, because each costs a client its time limit. */
  stall: "failed"
} as const satisfies Record<string, Expected>

export type Trouble = keyof typeof troubles

export const troubleNames = Object.keys(troubles) as ReadonlyArray<Trouble>

/** The troubles among which a share of the links draws. */
export const drawnTroubles = troubleNames.filter((name) => name !== "none" && name !== "stall")
