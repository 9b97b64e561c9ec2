import { addTexts } from '../dictionary.ts'

/** The plots. */
export const stats = addTexts({
  'stats.perDay': ['Inscripciones y eliminaciones por día', 'Registrations and deletions per day'],
  'stats.registered': ['inscritos', 'registered'],
  'stats.deleted': ['eliminados', 'deleted'],
  'stats.names': ['nombres', 'names'],
  'stats.lengths': ['Largos', 'Lengths'],
  'stats.agents': ['Por agente', 'By agent'],
  'stats.lastAdds': ['Último envío de cada cuenta', 'Last submission by account'],
  'stats.lastAdd': ['Último envío', 'Last submission'],
  'stats.range': ['Días que se muestran', 'Days shown'],
  'stats.range90': ['90 días', '90 days'],
  'stats.range365': ['1 año', '1 year'],
  'stats.rangeAll': ['Todo', 'All'],
  'stats.day': ['Día', 'Day'],
  'stats.asTable': ['Ver como tabla', 'Show as a table'],
})
