import { documentRecordShapes } from "./document-records.ts"
import { routes } from "../routes.ts"
import type { Route } from "../http/route.ts"
import { type Shape, required, text } from "../http/shape.ts"
import type { Data } from "../account/collection.ts"
import { familyOf } from "./families.ts"
import { errorRecord, recordShapes } from "./records.ts"
import { tokenOperation } from "./token-operation.ts"
import { objectSchema, recordsIn, returnSchema, schemaOf } from "./schemas.ts"

/** The OpenAPI 3.1 description of all operations, generated from the routes. */
export const openapi = (url: string): Data => {
  const paths: Record<string, Record<string, Data>> = { "/oauth/token": { post: tokenOperation } }
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, "{$1}")
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) }
  }
  const families = [...new Set(routes.map(familyOf))]
  return {
    openapi: "3.1.0",
    info: { title: "Account Platform API", version: "v3", description: "As served by the sandbox of sluice." },
    servers: [{ url }],
    tags: [...families, "OAuth"].map((name) => ({ name })),
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: { bearer: { type: "http", scheme: "bearer" } },
      parameters: { Version: version },
      responses: Object.fromEntries(
        Object.entries(failures).map(([status, description]) => [`E${status}`, failure(description)])
      ),
      schemas: schemas(paths)
    }
  }
}

const operation = (route: Route): Data => {
  const { body, location, scope, summary } = route
  const inPath = route.path.matchAll(/:(\w+)/g).map(([, name]) => parameter("path", name!))
  const inQuery: Shape = location?.in === "query" ? { [location.name]: required(text) } : {}
  const documented = Object.entries({ ...inQuery, ...route.query }).filter(([, field]) => !field.undocumented)
  const query = documented.map(([name, field]) => ({
    name,
    in: "query",
    ...(field.required && { required: true }),
    schema: schemaOf(field)
  }))
  return {
    operationId: operationId(route),
    summary,
    description: scope === undefined ? "The documents name no scope." : `Scope: \`${scope}\``,
    tags: [familyOf(route)],
    security: [{ bearer: scope === undefined ? [] : [scope] }],
    parameters: [{ $ref: "#/components/parameters/Version" }, ...inPath, ...query],
    ...((body !== undefined || location?.in === "body") && { requestBody: requestBody(route) }),
    responses: responses(route)
  }
}

const parameter = (place: string, name: string): Data => ({
  name,
  in: place,
  required: true,
  schema: { type: "string" }
})

const requestBody = ({ body, location }: Route): Data => {
  const inBody: Shape = location?.in === "body" ? { [location.name]: required(text) } : {}
  const schema = objectSchema({ ...inBody, ...body })
  return { required: true, content: { "application/json": { schema } } }
}

const responses = (route: Route): Data => {
  const { errors = [], produces, returns, status = 200 } = route
  const schema = returns === undefined ? { type: "object" } : returnSchema(returns)
  const content =
    produces === undefined ? { "application/json": { schema } } : { [produces]: { schema: { type: "string" } } }
  const usual = [400, 401, 403, 422, 429, 500]
  const others = usual.concat(route.path.includes(":") ? [404] : [], route.body !== undefined ? [413, 415] : [], errors)
  return {
    [status]: { description: "Success", ...(status !== 204 && { content }) },
    ...Object.fromEntries(others.map((code) => [code, { $ref: `#/components/responses/E${code}` }]))
  }
}

/** A unique id that is readable in generated clients: `getContactsByContactIdNotes`. */
const operationId = ({ method, path }: Route): string => {
  const words = path.split("/").map((segment) => (segment.startsWith(":") ? `by-${segment.slice(1)}` : segment))
  const name = [method.toLowerCase(), ...words].join("-")
  return name.replaceAll(/[-_]+(\w)?/g, (_, letter: string | undefined) => (letter ?? "").toUpperCase())
}

const schemas = (paths: Data): Data => {
  const shapes = { ...recordShapes, ...documentRecordShapes }
  const known = Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, objectSchema(shape)]))
  const open = [...recordsIn(paths)].filter((name) => !(name in known) && !/^(E\d+|Version)$/.test(name))
  return {
    Error: {
      type: "object",
      description: errorRecord.description,
      properties: {
        statusCode: { type: "integer" },
        message: { type: ["string", "array"], items: { type: "string" } },
        error: {},
        traceId: { type: "string" }
      }
    },
    ...known,
    ...Object.fromEntries(open.map((name) => [name, { type: "object" }]))
  }
}

const version: Data = {
  name: "Version",
  in: "header",
  required: true,
  description: "v3, or an older date.",
  schema: { type: "string", default: "v3", pattern: "^(v3|\\d{4}-\\d{2}-\\d{2})$" }
}

const failure = (description: string): Data => ({
  description,
  content: { "application/json": { schema: schemaOf({ ...errorRecord }) } }
})

const failures: Readonly<Record<number, string>> = {
  400: "Malformed: invalid JSON, a wrong type, an unsupported version",
  401: "No token, or an invalid or expired one; no version, or a malformed one",
  403: "Another location, or a missing scope",
  404: "Unknown, of another location, or deleted",
  409: "In conflict with the current state, such as a duplicate",
  413: "Too large",
  415: "Wrong content type",
  422: "Well-formed and not valid",
  429: "Over the rate limit",
  500: "The fault is not yours"
}
