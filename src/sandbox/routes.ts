import { contactRoutes } from "./resources/contacts.ts"
import { contactSearchRoutes } from "./resources/contact-search.ts"
import { conversationRoutes } from "./resources/conversations.ts"
import { formRoutes } from "./resources/forms.ts"
import { locationRoutes } from "./resources/locations.ts"
import { messageExportRoutes } from "./resources/message-export.ts"
import { messageRoutes } from "./resources/messages.ts"
import { noteRoutes } from "./resources/notes.ts"
import { opportunityRoutes } from "./resources/opportunities.ts"
import { opportunityPostSearchRoutes } from "./resources/opportunity-post-search.ts"
import { opportunitySearchRoutes } from "./resources/opportunity-search.ts"
import { orderRoutes } from "./resources/orders.ts"
import { userRoutes } from "./resources/users.ts"
import type { Route } from "./route.ts"

/** Every operation the sandbox serves. */
export const routes: ReadonlyArray<Route> = [
  ...contactRoutes,
  ...contactSearchRoutes,
  ...noteRoutes,
  ...opportunityRoutes,
  ...opportunitySearchRoutes,
  ...opportunityPostSearchRoutes,
  ...userRoutes,
  ...locationRoutes,
  ...conversationRoutes,
  ...messageRoutes,
  ...messageExportRoutes,
  ...orderRoutes,
  ...formRoutes
]
