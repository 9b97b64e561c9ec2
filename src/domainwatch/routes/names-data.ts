import type { BulkCall } from '../../http/endpoint.ts'
import { badParameter } from '../../http/errors.ts'
import { text, type Parameter } from '../../http/parameters.ts'
import { parseLabel } from '../../lib/domain-names.ts'
import type { Tasks } from '../../lib/tasks.ts'
import { readDataText, readInThread, unreadableError } from '../tasks/data-field.ts'

/** With room for escapes. */
export const NAMES_BODY_BYTES = 512 * 1024
/** More than an account can claim: clients may release all that they have ever claimed. */
const NAMES = { max: 1_000, of: 'nombres' }
const TAKES_NAMES = 'debe ser un arreglo de nombres de dominio .cl válidos, sin el sufijo'

export const namesParameter = (description: string): Parameter<string> => text(description, NAMES_BODY_BYTES)

/**
 * Authenticates the request and reads the names in `data`, in the query or else the body. Undefined if it has none.
 * @throws HttpError 400 for names that are not valid
 */
export async function readNames(
  { body, identify, values }: BulkCall<{ data: Parameter<string> }>,
  tasks: Tasks,
) {
  const sent = body.bytes.byteLength === 0 ? undefined : await readInThread(tasks, body)
  const { accountId } = await identify(sent?.api, sent?.names ?? [])
  const data = values.data === undefined ? sent?.data : readDataText(values.data, NAMES)
  if (data === undefined || (data.kind === 'unreadable' && data.isMissing)) return { accountId }
  if (data.kind === 'unreadable') throw unreadableError(data)
  const names = data.items.map((item) => {
    const label = typeof item === 'string' ? parseLabel(item) : undefined
    if (label?.ok !== true) throw badParameter('data', TAKES_NAMES)
    return label.name
  })
  return { accountId, names }
}
