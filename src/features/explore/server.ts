/** The server of the explorer: its page, its tables, and who may use it. */
import * as Effect from "effect/Effect"
import { type Routes, movedTo, pageResponse, serveRoutes, textResponse } from "../../network/server.ts"
import { type Session, newSessions } from "../../network/sessions.ts"
import { apiRoutes } from "./api.ts"
import { assetRoutes, pageHtml } from "./assets.ts"
import { type DocumentsOptions, documentRoutes } from "./documents.ts"
import type { Links } from "./links.ts"
import { storedRoutes } from "./stored-file.ts"
import { Releases, shownCatalogs } from "./releases.ts"

export interface TablesOptions {
  /** The published folder. */
  readonly published: string
  readonly memoryMb: number
  /** The folder of the saved queries. */
  readonly queries: string
  /** How the rows of tables refer to each other. */
  readonly links: () => Promise<Links>
}

/** What is answered about the tables, for every site that shows them. Ends running queries with the scope. */
export const tableRoutes = Effect.fnUntraced(function* ({ links, memoryMb, published, queries }: TablesOptions) {
  const releases = yield* Effect.acquireRelease(
    Effect.sync(() => new Releases(published, memoryMb)),
    (all) => Effect.sync(() => all.close())
  )
  const shownOf = shownCatalogs(links)
  // The page needs it first; why it cannot be read, the page will say.
  releases
    .current()
    .then((release) => shownOf(release).catalog)
    .catch(() => {})
  return { ...apiRoutes({ releases, shownOf, queries }), ...storedRoutes(releases, published) }
})

export type Explorer = Effect.Success<ReturnType<typeof startExplorer>>

/** `port`: 0 for a free one. Listens on 127.0.0.1 only, until the scope ends. Fails with the error of the system if the port is in use. */
export const startExplorer = Effect.fnUntraced(function* (
  options: TablesOptions & DocumentsOptions & { readonly port: number }
) {
  const access = newSessions({ name: "explore", isPublic: false, url: undefined, ...refusals })
  const routes: Routes<Session> = {
    "GET /": {
      right: "visitor",
      answer: ({ sent, url: { searchParams } }) => {
        const isLink = sent.method === "GET" && searchParams.has("token")
        const session = isLink ? access.openByLink(sent, searchParams.get("token")) : access.sessionOf(sent)
        if (session === undefined) return Effect.succeed(textResponse(401, refusals.noSession))
        // The token leaves the address bar, and with it the history and the bookmarks.
        if (isLink) return Effect.succeed(movedTo("/", { "set-cookie": access.cookieOf(sent, session) }))
        return pageResponse((nonce) => pageHtml(nonce, ""))
      }
    },
    ...(yield* tableRoutes(options)),
    ...documentRoutes(options),
    ...assetRoutes(false)
  }
  const { port } = yield* serveRoutes(routes, access, { host: "127.0.0.1", port: options.port })
  const newUrl = (isOnce: boolean) => `http://127.0.0.1:${port}/?token=${access.newLink(isOnce)}`
  return {
    port,
    /** The address to open, with the token. */
    url: newUrl(false),
    /** As `url`, but valid once. */
    singleUseUrl: () => newUrl(true)
  }
})

const refusals = {
  noSession: "Open the address that ./sluice explore printed: it has the token of this session.",
  otherHost: "This address is not the one that ./sluice explore printed."
}
