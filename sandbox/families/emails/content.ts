import { malformed, notFound } from "../../http/errors.ts"
import { Download } from "../../http/route.ts"
import type { Service } from "../../service.ts"

/** Serves the content of a template or campaign (B 2.1) at an address outside the API, in place of a storage host. */
export const editorContentUrl = ({ origin, world }: Service, kind: "template" | "campaign", id: string): string =>
  `${origin}${storagePath}${world.context.locationId}/${kind}/${id}`

export const storagePath = "/storage/email-content/"

/** Which location a request for content is for: it has no token. */
export const locationOfContent = (path: string): string | undefined =>
  path.startsWith(storagePath) ? path.slice(storagePath.length).split("/")[0] : undefined

/** The content as HTML. Storage hosts refuse a request that carries the token of the API (field-notes 7). */
export const emailContent = (path: string, authorization: unknown, service: Service): Download => {
  if (authorization !== undefined) throw malformed("Only one auth mechanism allowed; remove the Authorization header")
  const [, kind, id] = path.slice(storagePath.length).split("/")
  const { emailCampaigns, emailTemplates } = service.world
  const collection = kind === "template" ? emailTemplates : kind === "campaign" ? emailCampaigns : undefined
  const row = collection?.get(id ?? "")
  if (collection === undefined || row === undefined) throw notFound("The specified key does not exist")
  return new Download(String(collection.data(row)["content"] ?? ""), "text/html")
}
