import { HttpError } from '../../lib/errors.ts'
import { DISPLAY_NAME_TAKES, isDisplayName } from '../../lib/free-text.ts'
import { hasAtMostCharacters, isStorable } from '../../lib/text.ts'
import { integer, text, type Parameter } from '../../http/parameters.ts'

export const WATCHES_PATH = '/api/v1/domainwatch/watches'
const MAX_NAME = 100

/** Selects a watch. */
export const which = {
  id: {
    ...text('Of a watch of the account, or of one that is shared', 100),
    required: true,
    example: 'k3J9x0aQ_-Zb',
  },
}

export const sharing = {
  shared: integer('Whether the whole group sees and edits the watch (1) or only its account (0)', 0, 1),
}

export function watchName(): Parameter<string> {
  const takes = `debe ser un texto de 1 a ${MAX_NAME} caracteres`
  return {
    ...text('What to call it', MAX_NAME),
    schema: { type: 'string', minLength: 1, maxLength: MAX_NAME },
    parse: (given) => {
      const value = given.trim()
      if (value === '' || !hasAtMostCharacters(value, MAX_NAME)) return { takes }
      return isDisplayName(value) ? { value } : { takes: `${takes}, ${DISPLAY_NAME_TAKES}` }
    },
  }
}

export function noWatch(): HttpError {
  return new HttpError(404, 'La vigilancia no existe')
}

/**
 * Returns the id of a watch.
 * @throws HttpError 404 for a text that no id can be
 */
export function watchId(id = ''): string {
  if (!isStorable(id)) throw noWatch()
  return id
}
