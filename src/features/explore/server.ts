/** The server of the explorer: its page, its tables, and who may use it. */
import { newAccess } from "./access.ts"
import { apiRoutes } from "./api.ts"
import { assetPaths, pageHtml } from "./assets.ts"
import { type DocumentsOptions, sendDocument } from "./documents.ts"
import { HttpError } from "./http.ts"
import type { Links } from "./links.ts"
import { filesName } from "../../output/paths.ts"
import { sendStored } from "./stored-file.ts"
import { Releases, shownCatalogs } from "./releases.ts"
import { type Api, type Visit, sendText, serveSite } from "./web-server.ts"

export interface TablesOptions {
  /** The published folder. */
  readonly published: string
  readonly memoryMb: number
  /** The folder of the saved queries. */
  readonly queries: string
  /** How the rows of tables refer to each other. */
  readonly links: () => Promise<Links>
}

/** What the explorer answers about the tables, for every site that shows them. */
export const tablesOf = ({ published, memoryMb, queries, links }: TablesOptions) => {
  const releases = new Releases(published, memoryMb)
  const shownOf = shownCatalogs(links)
  const downloads = new Set<Promise<unknown>>()
  const api: Api = apiRoutes({ releases, shownOf, queries, downloads })
  // The page needs it first; why it cannot be read, the page will say.
  releases
    .current()
    .then((release) => shownOf(release).catalog)
    .catch(() => {})
  return {
    api,
    releases,
    /** Answers the address of a file behind a link; false for any other address. */
    stored: async ({ response, url: { pathname } }: Visit, signal: AbortSignal) => {
      if (!pathname.startsWith(`/${filesName}/`)) return false
      await sendStored(response, releases, published, pathname, signal)
      return true
    },
    /** Ends running queries and downloads, and removes their files. */
    close: async () => {
      releases.close()
      await Promise.allSettled(downloads)
    }
  }
}

export interface ExplorerOptions extends TablesOptions, DocumentsOptions {
  /** 0: a free one. */
  readonly port: number
}

export type Explorer = Awaited<ReturnType<typeof startExplorer>>

/** Listens on 127.0.0.1 only. Rejects with the error of the system if the port is in use. */
export const startExplorer = async (options: ExplorerOptions) => {
  const tables = tablesOf(options)
  const access = newAccess()
  const admit = async ({ request, response, url: { pathname, searchParams } }: Visit) => {
    const isPage = request.method === "GET" && pathname === "/"
    if (isPage && searchParams.has("token")) {
      // The token leaves the address bar, and with it the history and the bookmarks.
      const cookie = access.cookieFor(request, searchParams.get("token"))
      if (cookie === undefined) sendText(response, 401, refusals.token)
      else response.writeHead(303, { location: "/", "set-cookie": cookie }).end()
      return undefined
    }
    const refusal = access.refusalOf(request)
    if (refusal === undefined) return true
    const status = refusal === "token" ? 401 : 403
    if (pathname !== "/") throw new HttpError(status, refusal, refusals[refusal])
    sendText(response, status, refusals[refusal])
    return undefined
  }
  const site = {
    admit,
    page: (nonce: string) => pageHtml(nonce, ""),
    assets: assetPaths(false),
    api: tables.api,
    others: async (visit: Visit, signal: AbortSignal) =>
      (await sendDocument(visit, options)) || tables.stored(visit, signal)
  }
  const server = await serveSite(site, "127.0.0.1", options.port)
  const urlOf = (token: string) => `http://127.0.0.1:${server.port}/?token=${token}`
  return {
    port: server.port,
    /** The address to open, with the token. */
    url: urlOf(access.token),
    /** As `url`, but valid once. */
    singleUseUrl: () => urlOf(access.newSingleUseToken()),
    close: async () => {
      const closed = server.close()
      await tables.close()
      await closed
    }
  }
}

const refusals = {
  token: "Open the address that ./sluice explore printed: it has the token of this session.",
  host: "This address is not the one that ./sluice explore printed.",
  origin: "The request comes from another page."
}
