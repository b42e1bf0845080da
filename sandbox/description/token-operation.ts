import type { Data } from "../account/collection.ts"

/** `POST /oauth/token` (A 5.2). It is not a route, because it expects a form and no token. */
export const tokenOperation: Data = {
  operationId: "postOauthToken",
  summary: "Exchange a refresh token",
  tags: ["OAuth"],
  security: [],
  parameters: [{ $ref: "#/components/parameters/Version" }],
  requestBody: {
    required: true,
    content: {
      "application/x-www-form-urlencoded": {
        schema: {
          type: "object",
          required: ["client_id", "client_secret"],
          properties: Object.fromEntries(
            ["client_id", "client_secret", "grant_type", "refresh_token"].map((name) => [name, { type: "string" }])
          )
        }
      }
    }
  },
  responses: {
    200: {
      description: "Success",
      content: {
        "application/json": {
          schema: {
            type: "object",
            properties: {
              access_token: { type: "string" },
              expires_in: { type: "integer" },
              companyId: { type: "string" }
            }
          }
        }
      }
    },
    ...Object.fromEntries([400, 401].map((code) => [code, { $ref: `#/components/responses/E${code}` }]))
  }
}
