/** Where a response sends the client on to. It is not followed: the token goes to the address of the settings only. */
import { type Headers, headerOf } from "./http.ts"

export interface Redirect {
  /** The address without a query, which may contain anything. */
  readonly to: string
  /** The address of the API that the settings should have, if the response is about the whole API and not about this path. */
  readonly base?: string
}

export const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status)

/** `path`: as requested, below the path of `baseUrl`. `undefined` if the response names no address. */
export const redirectIn = (headers: Headers, baseUrl: string, path: string): Redirect | undefined => {
  const base = new URL(baseUrl)
  const prefix = withoutEnd(base.pathname)
  const [wanted = ""] = path.split("?")
  const target = URL.parse(headerOf(headers, "location") ?? "", base.origin + prefix + wanted)
  if (target === null || !/^https?:$/.test(target.protocol)) return undefined
  const found = withoutEnd(target.pathname)
  const isSamePath = found.endsWith(wanted) && wanted !== ""
  // Some servers send every path to the front page of the encrypted address.
  const isUpgrade = base.protocol === "http:" && target.protocol === "https:" && target.hostname === base.hostname
  const named = target.origin + (isSamePath ? found.slice(0, -wanted.length) : prefix)
  const isNew = (isSamePath || isUpgrade) && named !== base.origin + prefix
  return { to: `${target.origin}${target.pathname}`.slice(0, 200), ...(isNew && { base: named }) }
}

const withoutEnd = (path: string): string => path.replace(/\/$/, "")
