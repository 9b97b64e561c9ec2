import { inBoth } from '../dictionary.ts'

/** The query box: completions and errors. */
export const query = inBoth(
  {
    'query.complete': 'Completar',
    'query.offers.one': '{n} sugerencia; flecha abajo para elegirla',
    'query.offers.other': '{n} sugerencias; flecha abajo para elegir',
    'query.today': 'hoy',
    'query.yesterday': 'ayer',
    'query.daysAgo': 'hace {n} días',
    'query.unknown': '«{word}» no es un filtro: no hay ninguno que se llame «{name}».',
    'query.noValue': 'A «{word}» le falta un valor.',
    'query.oneOf': 'debe ser {values}',
  },
  {
    'query.complete': 'Complete',
    'query.offers.one': '{n} suggestion; arrow down to choose it',
    'query.offers.other': '{n} suggestions; arrow down to choose',
    'query.today': 'today',
    'query.yesterday': 'yesterday',
    'query.daysAgo': '{n} days ago',
    'query.unknown': '“{word}” is not a filter: there is none called “{name}”.',
    'query.noValue': '“{word}” lacks a value.',
    'query.oneOf': 'it must be {values}',
  },
)
