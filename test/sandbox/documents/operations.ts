/**
 * Every operation of document 2 that reads, and those that the sandbox serves of the others (sections 4.1 to 4.8), copied manually,
 * with its scope and its test file.
 */
const table = `
GET    /emails/locations/{locationId}/templates                        emails/templates.readonly         emails
GET    /emails/locations/{locationId}/templates/{templateId}           emails/templates.readonly         emails
GET    /emails/locations/{locationId}/campaigns/emails                 emails/campaigns.readonly         emails
GET    /emails/locations/{locationId}/campaigns/emails/{campaignId}    emails/campaigns.readonly         emails
GET    /products/                                                      products.readonly                 products
GET    /products/{productId}                                           products.readonly                 products
DELETE /products/{productId}                                           products.write                    products
GET    /products/{productId}/price                                     products/prices.readonly          prices
GET    /products/{productId}/price/{priceId}                           products/prices.readonly          prices
GET    /products/inventory                                             products/prices.readonly          prices
GET    /products/collections                                           products/collection.readonly      products
GET    /invoices/                                                      invoices.readonly                 invoices
GET    /invoices/{invoiceId}                                           invoices.readonly                 invoices
GET    /invoices/estimate/list                                         invoices/estimate.readonly        estimates
GET    /invoices/generate-invoice-number                               invoices.readonly                 invoices
GET    /invoices/estimate/number/generate                              invoices/estimate.readonly        estimates
GET    /invoices/settings                                              invoices.readonly                 invoices
GET    /invoices/estimate/template                                     invoices/estimate.readonly        estimates
GET    /invoices/estimate/template/preview                             invoices/estimate.readonly        estimates
GET    /invoices/template                                              invoices/template.readonly        invoices
GET    /payments/orders                                                payments/orders.readonly          orders
GET    /payments/orders/{orderId}                                      payments/orders.readonly          orders
GET    /payments/orders/{orderId}/fulfillments                         payments/orders.readonly          orders
GET    /payments/orders/{orderId}/notes                                payments/orders.readonly          orders
GET    /payments/transactions                                          payments/transactions.readonly    payments
GET    /payments/transactions/{transactionId}                          payments/transactions.readonly    payments
GET    /payments/subscriptions                                         payments/subscriptions.readonly   payments
GET    /payments/subscriptions/{subscriptionId}                        payments/subscriptions.readonly   payments
GET    /payments/coupon/list                                           payments/coupons.readonly         coupons
GET    /payments/coupon                                                payments/coupons.readonly         coupons
GET    /social-media-posting/{locationId}/accounts                     socialplanner/account.readonly    social
POST   /social-media-posting/{locationId}/posts/list                   socialplanner/post.readonly       social
GET    /social-media-posting/{locationId}/posts/{postId}               none                              social
DELETE /social-media-posting/{locationId}/posts/{postId}               none                              social
GET    /social-media-posting/{locationId}/categories                   socialplanner/category.readonly   social
GET    /social-media-posting/{locationId}/tags                         none                              social
GET    /blogs/site/all                                                 blogs/list.readonly               blogs
GET    /blogs/posts/all                                                blogs/posts.readonly              blogs
GET    /blogs/posts/url-slug-exists                                    blogs/check-slug.readonly         blogs
GET    /blogs/authors                                                  blogs/author.readonly             blogs
GET    /blogs/categories                                               blogs/category.readonly           blogs
GET    /funnels/funnel/list                                            none                              funnels
GET    /funnels/page                                                   none                              funnels
GET    /funnels/page/count                                             none                              funnels
GET    /funnels/lookup/redirect/list                                   funnels/redirect.readonly         funnels
DELETE /funnels/lookup/redirect/{id}                                   funnels/redirect.write            funnels
GET    /forms/                                                         forms.readonly                    forms
GET    /forms/submissions                                              forms.readonly                    forms
GET    /surveys/                                                       surveys.readonly                  forms
GET    /surveys/submissions                                            surveys.readonly                  forms
`

export interface Operation {
  readonly method: string
  readonly path: string
  /** Undefined if any valid token is accepted. */
  readonly scope: string | undefined
  readonly testFile: string
}

export const operations: ReadonlyArray<Operation> = table
  .trim()
  .split("\n")
  .map((line) => {
    const [method, path, scope, file] = line.split(/\s+/) as [string, string, string, string]
    return { method, path, scope: scope === "none" ? undefined : scope, testFile: `${file}.test.ts` }
  })
