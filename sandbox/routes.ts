import { blogRoutes } from "./families/blogs/blogs.ts"
import { formRoutes, surveyRoutes } from "./families/forms/forms.ts"
import { furtherRoutes } from "./families/further/routes.ts"
import { funnelRoutes } from "./families/funnels/funnels.ts"
import { socialSearchRoutes } from "./families/social/post-search.ts"
import { socialRoutes } from "./families/social/posts.ts"
import { couponRoutes } from "./families/payments/coupons.ts"
import { documentTemplateRoutes } from "./families/invoices/document-templates.ts"
import { emailCampaignRoutes } from "./families/emails/campaigns.ts"
import { emailTemplateRoutes } from "./families/emails/templates.ts"
import { estimateRoutes } from "./families/invoices/estimates.ts"
import { invoiceRoutes } from "./families/invoices/invoices.ts"
import { orderRoutes } from "./families/payments/orders.ts"
import { priceRoutes } from "./families/products/prices.ts"
import { productRoutes } from "./families/products/products.ts"
import { transactionRoutes } from "./families/payments/transactions.ts"
import { appointmentRoutes } from "./families/calendars/appointments.ts"
import { calendarRoutes } from "./families/calendars/calendars.ts"
import { contactRoutes } from "./families/contacts/contacts.ts"
import { contactDuplicateRoutes } from "./families/contacts/duplicates.ts"
import { contactTaskRoutes } from "./families/contacts/tasks.ts"
import { contactSearchRoutes } from "./families/contacts/search.ts"
import { conversationRoutes } from "./families/conversations/conversations.ts"
import { customFieldRoutes } from "./families/custom-fields/custom-fields.ts"
import { locationListRoutes } from "./families/locations/location-lists.ts"
import { locationRoutes } from "./families/locations/locations.ts"
import { messageExportRoutes } from "./families/conversations/message-export.ts"
import { messageRoutes } from "./families/conversations/messages.ts"
import { noteRoutes } from "./families/contacts/notes.ts"
import { objectFieldRoutes } from "./families/custom-fields/object-fields.ts"
import { opportunityRoutes } from "./families/opportunities/opportunities.ts"
import { opportunityPostSearchRoutes } from "./families/opportunities/search-by-body.ts"
import { opportunitySearchRoutes } from "./families/opportunities/search.ts"
import { pipelineRoutes } from "./families/opportunities/pipelines.ts"
import { recordingRoutes } from "./families/conversations/recordings.ts"
import { recurringTaskRoutes } from "./families/locations/recurring-tasks.ts"
import { userRoutes } from "./families/users/users.ts"
import { workflowRoutes } from "./families/workflows/workflows.ts"
import type { Route } from "./http/route.ts"

/**
 * Every operation that reads, except that of the token endpoint, and those that write which simulate users between two readings.
 * sluice never writes, so the sandbox serves no others.
 */
export const routes: ReadonlyArray<Route> = [
  ...contactRoutes,
  ...contactSearchRoutes,
  ...contactDuplicateRoutes,
  ...contactTaskRoutes,
  ...noteRoutes,
  ...pipelineRoutes,
  ...opportunityRoutes,
  ...opportunitySearchRoutes,
  ...opportunityPostSearchRoutes,
  ...calendarRoutes,
  ...appointmentRoutes,
  ...userRoutes,
  ...locationRoutes,
  ...locationListRoutes,
  ...recurringTaskRoutes,
  ...customFieldRoutes,
  ...objectFieldRoutes,
  ...workflowRoutes,
  ...conversationRoutes,
  ...recordingRoutes,
  ...messageRoutes,
  ...messageExportRoutes,
  ...emailTemplateRoutes,
  ...emailCampaignRoutes,
  ...productRoutes,
  ...priceRoutes,
  ...invoiceRoutes,
  ...estimateRoutes,
  ...documentTemplateRoutes,
  ...orderRoutes,
  ...transactionRoutes,
  ...couponRoutes,
  ...socialSearchRoutes,
  ...socialRoutes,
  ...blogRoutes,
  ...funnelRoutes,
  ...surveyRoutes,
  ...formRoutes,
  ...furtherRoutes
]
