import type { Route } from "../../http/route.ts"
import { accountRoutes } from "./account.ts"
import { furtherCalendarRoutes } from "./calendars.ts"
import { crmRoutes } from "./crm.ts"
import { documentRoutes } from "./documents.ts"
import { furtherEmailRoutes } from "./emails.ts"
import { furtherCommerceRoutes } from "./commerce.ts"
import { moreRoutes } from "./more.ts"
import { objectRoutes } from "./objects.ts"
import { asOffered } from "./offered.ts"
import { voiceRoutes } from "./voice.ts"

/** The operations of document 3. */
export const furtherRoutes: ReadonlyArray<Route> = [
  ...accountRoutes,
  ...crmRoutes,
  ...objectRoutes,
  ...furtherEmailRoutes,
  ...documentRoutes,
  ...voiceRoutes,
  ...furtherCalendarRoutes,
  ...furtherCommerceRoutes,
  ...moreRoutes
].map(asOffered)
