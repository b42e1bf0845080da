import { notFound } from "../../http/errors.ts"
import type { Route } from "../../http/route.ts"

/** The lists of document 3, which an account may have, have without a record, or not have: see `furtherLists` in options.ts. */
export const asOffered = (route: Route): Route => ({
  ...route,
  handle: (call, service) => {
    switch (service.settings.variants.furtherLists) {
      case "offered":
      case "empty":
        return route.handle(call, service)
      case "missing":
        throw notFound(`Cannot ${route.method} ${route.path}`)
      case "other form":
        return { success: true, message: "This feature has moved." }
    }
  }
})
