import { addTexts, inBoth } from '../dictionary.ts'

/** The plots. */
export const stats = inBoth(
  {
    'stats.perDay': 'Inscripciones y eliminaciones por día',
    'stats.registered': 'inscritos',
    'stats.deleted': 'eliminados',
    'stats.names': 'nombres',
    'stats.lengths': 'Largos',
    'stats.letters.one': '{n} carácter',
    'stats.letters.other': '{n} caracteres',
    'stats.agents': 'Por agente',
    'stats.others': 'y {n} de otros agentes',
    'stats.feeds': 'Último envío de cada cuenta',
    'stats.account': 'Cuenta',
    'stats.lastAdd': 'Último envío',
    'stats.never': 'Nunca',
    'stats.day': 'Día',
    'stats.asTable': 'Ver como tabla',
  },
  {
    'stats.perDay': 'Registrations and deletions per day',
    'stats.registered': 'registered',
    'stats.deleted': 'deleted',
    'stats.names': 'names',
    'stats.lengths': 'Lengths',
    'stats.letters.one': '{n} character',
    'stats.letters.other': '{n} characters',
    'stats.agents': 'By agent',
    'stats.others': 'and {n} from other agents',
    'stats.feeds': 'Last submission by account',
    'stats.account': 'Account',
    'stats.lastAdd': 'Last submission',
    'stats.never': 'Never',
    'stats.day': 'Day',
    'stats.asTable': 'Show as a table',
  },
)

addTexts(stats)
