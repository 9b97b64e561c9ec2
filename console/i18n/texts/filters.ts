import type { Texts } from '../dictionary.ts'

/** Counts next to the filters, and the strip of days. */
export const filters = {
  'facets.days': ['Días: inscritos y eliminados', 'Days: registered and deleted'],
  'facets.lengths': ['Largo', 'Length'],
  'facets.agents': ['Agente', 'Agent'],
  'facets.length.one': ['{n} carácter', '{n} character'],
  'facets.length.other': ['{n} caracteres', '{n} characters'],
  'facets.others': ['y {n} de otros agentes', 'and {n} from other agents'],
  'facets.registered.one': ['{n} inscrito', '{n} registered'],
  'facets.registered.other': ['{n} inscritos', '{n} registered'],
  'facets.deleted.one': ['{n} eliminado', '{n} deleted'],
  'facets.deleted.other': ['{n} eliminados', '{n} deleted'],
  'filter.fault': ['«{word}» no es válido: {takes}.', '“{word}” is not valid: {takes}.'],
  'filter.takesNumber': [
    'debe ser un número entre {least} y {most}',
    'it must be a number from {least} to {most}',
  ],
  'filter.takesChoice': [
    'debe ser uno de los valores que ofrece la lista de filtros',
    'it must be one of the values that the filter form offers',
  ],
  'filter.takesText': ['puede tener {most} caracteres como máximo', 'it can have {most} characters at most'],
  'filter.takesDay': [
    'debe ser un día que exista, como 2025-12-31',
    'it must be an existing day, such as 2025-12-31',
  ],
  'filter.agentNeedsText': [
    '«en:agente» necesita además el texto que se busca.',
    '“in:agent” also needs the text to look for.',
  ],
  'filter.faultTitle': ['Un filtro no es válido', 'A filter is not valid'],
} as const satisfies Texts
