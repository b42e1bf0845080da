/** The site of the console: its addresses beside those of the explorer, and how a visitor is let in. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { stat } from "node:fs/promises"
import { join } from "node:path"
import { assetRoutes, pageHtml } from "../explore/assets.ts"
import { type DocumentsOptions, documentRoutes } from "../explore/documents.ts"
import { type TablesOptions, tableRoutes } from "../explore/server.ts"
import {
  HttpError,
  type Routes,
  type Visit,
  attempt,
  bytesOf,
  fileResponse,
  movedTo,
  nothingHere,
  pageResponse,
  serveRoutes,
  textResponse,
  unreadable,
  withBody
} from "../../network/server.ts"
import { FileChanged, inTurn, writePrivately } from "../../settings/new-file.ts"
import { documentOf, html } from "../../pages/html.ts"
import { baseStyle } from "../../pages/page-style.ts"
import type { Session } from "../../network/sessions.ts"
import { type Access, hashOf, passwordLengthMin } from "./access.ts"
import type { Console } from "./console.ts"

export interface SiteOptions extends DocumentsOptions {
  readonly console: Console
  readonly access: Access
  readonly tables: TablesOptions
  readonly host: string
  readonly port: number
  /** The file of the password that the page stores; undefined if none is needed. */
  readonly passwordFile: string | undefined
}

/** Serves until the scope ends. Fails with the error of the system if the port is in use. */
export const startSite = Effect.fnUntraced(function* (options: SiteOptions) {
  const { access, console, host, passwordFile, port } = options
  let needsPassword = passwordFile !== undefined
  const loginPage = (problem: string, status: number) =>
    pageResponse((nonce) => loginHtml(nonce, problem), status, "'self'")
  const enter = ({ sent }: Visit, session: Session) => movedTo("/", { "set-cookie": access.cookieOf(sent, session) })

  /** For a browser that opens the address: its link, its page, or the form of the password. */
  const front = (visit: Visit) => {
    const { sent, url } = visit
    if (sent.method === "GET" && url.pathname === "/" && url.searchParams.has("token")) {
      const session = access.openByLink(sent, url.searchParams.get("token"))
      const refusal = "This link was used already, or belongs to an earlier server."
      return Effect.succeed(session === undefined ? textResponse(401, refusal) : enter(visit, session))
    }
    const session = access.sessionOf(sent)
    if (session && url.pathname !== "/") return Effect.fail(nothingHere())
    if (session) return pageResponse((nonce) => pageHtml(nonce, session.role))
    if (access.hasPassword()) return loginPage("", 200)
    const refusal = "Open the link that ./sluice serve printed: it has the token of this session."
    return Effect.succeed(textResponse(401, refusal))
  }
  const login = (visit: Visit) =>
    bytesOf(visit, loginBytesMax).pipe(
      Effect.map((form) => new URLSearchParams(form.toString()).get("password") ?? ""),
      Effect.flatMap((given) => attempt(() => access.openByPassword(visit.sent, given))),
      Effect.map((session) => enter(visit, session)),
      Effect.catch((cause) =>
        cause instanceof HttpError ? loginPage(cause.message, cause.status) : Effect.fail(cause)
      )
    )
  const setPassword = async ({ password }: typeof NewPassword.Type) => {
    if (passwordFile === undefined || !needsPassword)
      throw new HttpError(403, "reader", "The password is set where the setting console.password says.")
    const content = `${await hashOf(password)}\n`
    return inTurn(async () => {
      if (!needsPassword) throw new HttpError(409, "exists", "Another browser has just set the password.")
      await writePrivately(passwordFile, content, null).catch((cause: unknown) => {
        throw cause instanceof FileChanged ? new HttpError(409, "exists", cause.message) : cause
      })
      needsPassword = false
      return {}
    })
  }
  const exported = Effect.fnUntraced(function* ({ url: { pathname } }: Visit) {
    const [, name] = /^\/exports\/([\w][\w .%-]{0,200})$/.exec(pathname) ?? []
    const file = yield* Effect.try({ try: () => decodeURIComponent(name ?? ""), catch: unreadable })
    const path = join(console.exports, file.replaceAll(/[/\\]/g, ""))
    const found = yield* Effect.promise(() => stat(path).catch(() => undefined))
    if (name === undefined || !found?.isFile()) return yield* Effect.fail(nothingHere())
    return yield* fileResponse(path, encodeURIComponent(file))
  })

  const routes: Routes<Session> = {
    "GET /": { right: "visitor", answer: front },
    "GET /login": { right: "visitor", answer: front },
    "POST /login": { right: "visitor", answer: login },
    "GET /healthz": {
      right: "anyone",
      answer: () =>
        Effect.map(console.illness, (illness) =>
          illness === undefined ? textResponse(200, "ok") : textResponse(503, `not ok: ${illness}`)
        )
    },
    "POST /logout": {
      right: "reader",
      answer: ({ who }) =>
        Effect.sync(() => {
          access.close(who)
          return movedTo("/login")
        })
    },
    "POST /api/password": { answer: withBody(NewPassword, (body) => attempt(() => setPassword(body))) },
    "GET /exports/*": { right: "reader", answer: exported },
    ...(yield* tableRoutes(options.tables)),
    ...documentRoutes(options),
    ...assetRoutes(true),
    ...console.routes,
    "GET /api/console": {
      right: "reader",
      answer: ({ who }) => Effect.map(console.stateOf(who), (state) => ({ ...state, needsPassword }))
    }
  }
  const rules = {
    ...access,
    // Until there is a password, the page does nothing but ask for it.
    checkState: (route: string) => {
      if (needsPassword && !/^GET \/(page\/|packages\/|api\/console$)|^POST \/(logout|api\/password)$/.test(route))
        throw new HttpError(403, "password", "Set a password first.")
    }
  }
  return yield* serveRoutes(routes, rules, { host, port })
})

const loginBytesMax = 10_000
const NewPassword = Schema.Struct({
  password: Schema.String.check(
    Schema.isMinLength(passwordLengthMin, { message: `A password has ${passwordLengthMin} characters or more.` })
  )
})

const loginStyle = `${baseStyle}
body{display:grid;place-items:center;min-height:100vh}
form{display:grid;gap:.75rem;width:min(20rem,90vw)}
h1{font-size:1.25rem;margin:0}
p{margin:0;color:var(--bad)}`

/** Works without a script. */
const loginHtml = (nonce: string, problem: string): string =>
  documentOf(
    "sluice",
    loginStyle,
    html`<main>
      <form method="post" action="/login">
        <h1>sluice</h1>
        <label for="password">Password</label>
        <input id="password" name="password" type="password" autocomplete="current-password" required autofocus />
        <button>Open</button>
        ${problem === "" ? undefined : html`<p role="alert">${problem}</p>`}
      </form>
    </main>`
  ).replace("<style>", `<style nonce="${nonce}">`)
