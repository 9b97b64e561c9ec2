import assert from 'node:assert/strict'
import { openapiText, resolved } from './openapi.ts'

interface Response {
  readonly content?: Readonly<Record<string, { readonly schema: { readonly properties?: Properties } }>>
}
type Properties = Readonly<Record<string, { readonly enum?: readonly string[] }>>

const document: {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, Response>> }>>>
  >
} = Object(resolved(JSON.parse(openapiText)))

/** The codes that OpenAPI documents for a response; undefined if it does not document that response. */
function documentedCodes(method: string, path: string, status: number): readonly string[] | undefined {
  const { content = {} } = document.paths[path]?.[method.toLowerCase()]?.responses[status] ?? {}
  return content['application/json']?.schema.properties?.['code']?.enum
}

/**
 * Splits an error body into its code, its reason and the rest, which tests compare: a code is declared next to its message. Fails if an error
 * has no code, or one that OpenAPI does not document for it, or names another parameter than its message.
 */
export function splitCode(
  body: unknown,
  request?: { readonly method: string; readonly path: string },
): { readonly code: string | undefined; readonly reason?: unknown; readonly body: unknown } {
  if (typeof body !== 'object' || body === null || !('msg' in body)) return { code: undefined, body }
  const { code, parameter, reason, ...rest } = Object(body)
  assert.match(String(code), /^[a-z]+(_[a-z]+)*$/, JSON.stringify(body))
  const codes = request && documentedCodes(request.method, request.path, rest.status)
  const isDocumented = codes === undefined || codes.includes(code) || code === 'path_not_found'
  assert.ok(isDocumented, `OpenAPI has no ${code} in ${JSON.stringify(request)} ${rest.status}`)
  if (parameter !== undefined) assert.ok(rest.msg.includes(` ${parameter}`), JSON.stringify(body))
  return { code, reason, body: rest }
}

/** The body of an error, or of another answer, as a test compares it. @see splitCode */
export const parseError = (text = ''): unknown => splitCode(JSON.parse(text)).body
