import { addTexts, type Texts } from '../dictionary.ts'

/** The plots. */
export const stats = {
  'stats.perDay': ['Inscripciones y eliminaciones por día', 'Registrations and deletions per day'],
  'stats.registered': ['inscritos', 'registered'],
  'stats.deleted': ['eliminados', 'deleted'],
  'stats.names': ['nombres', 'names'],
  'stats.lengths': ['Largos', 'Lengths'],
  'stats.letters.one': ['{n} carácter', '{n} character'],
  'stats.letters.other': ['{n} caracteres', '{n} characters'],
  'stats.agents': ['Por agente', 'By agent'],
  'stats.others': ['y {n} de otros agentes', 'and {n} from other agents'],
  'stats.lastAdds': ['Último envío de cada cuenta', 'Last submission by account'],
  'stats.account': ['Cuenta', 'Account'],
  'stats.lastAdd': ['Último envío', 'Last submission'],
  'stats.never': ['Nunca', 'Never'],
  'stats.range': ['Días que se muestran', 'Days shown'],
  'stats.range90': ['90 días', '90 days'],
  'stats.range365': ['1 año', '1 year'],
  'stats.rangeAll': ['Todo', 'All'],
  'stats.day': ['Día', 'Day'],
  'stats.asTable': ['Ver como tabla', 'Show as a table'],
} as const satisfies Texts

addTexts(stats)
