import type { Texts } from '../dictionary.ts'

/** The query box: completions and errors. */
export const query = {
  'query.complete': ['Completar', 'Complete'],
  'query.offers.one': [
    '{n} sugerencia; flecha abajo para elegirla',
    '{n} suggestion; arrow down to choose it',
  ],
  'query.offers.other': [
    '{n} sugerencias; flecha abajo para elegir',
    '{n} suggestions; arrow down to choose',
  ],
  'query.today': ['hoy', 'today'],
  'query.yesterday': ['ayer', 'yesterday'],
  'query.daysAgo': ['hace {n} días', '{n} days ago'],
  'query.unknown': [
    '«{word}» no es un filtro: no hay ninguno que se llame «{name}».',
    '“{word}” is not a filter: there is none called “{name}”.',
  ],
  'query.noValue': ['A «{word}» le falta un valor.', '“{word}” lacks a value.'],
  'query.oneOf': ['debe ser {values}', 'it must be {values}'],
} as const satisfies Texts
