import { notFound } from "../http/errors.ts"
import { Download, type Route } from "../http/route.ts"
import { bytesOf } from "./contents.ts"
import { contentIn, documentPath } from "./files.ts"
import { linkAt } from "./links.ts"

/**
 * Uploads that lie on the host of the API and need its token, as the live service was observed to have some. No document
 * names the operation, so it is not among the routes.
 */
export const documentRoute: Route = {
  method: "GET",
  path: `${documentPath}:documentId`,
  summary: "Download a document",
  handle: ({ params }, { files, world }) => {
    const link = linkAt(`/${world.context.locationId}/${params["documentId"]}/document`)
    const content = files && link?.style === "document" ? contentIn(files, link) : undefined
    if (content === undefined) throw notFound("Document not found")
    return new Download(Buffer.concat([...bytesOf(content)]), content.type, `document.${content.ending}`)
  }
}
