import { addTexts, inBoth } from '../dictionary.ts'

/** The plots. */
export const figures = inBoth(
  {
    'figures.perDay': 'Inscripciones y eliminaciones por día',
    'figures.registered': 'inscritos',
    'figures.deleted': 'eliminados',
    'figures.names': 'nombres',
    'figures.lengths': 'Largos',
    'figures.letters': '{n} caracteres',
    'figures.agents': 'Por agente',
    'figures.others': 'y {n} de otros agentes',
    'figures.feeds': 'Último envío de cada cuenta',
    'figures.account': 'Cuenta',
    'figures.lastAdd': 'Último envío',
    'figures.never': 'Nunca',
    'figures.day': 'Día',
    'figures.asTable': 'Ver como tabla',
  },
  {
    'figures.perDay': 'Registrations and deletions per day',
    'figures.registered': 'registered',
    'figures.deleted': 'deleted',
    'figures.names': 'names',
    'figures.lengths': 'Lengths',
    'figures.letters': '{n} characters',
    'figures.agents': 'By agent',
    'figures.others': 'and {n} from other agents',
    'figures.feeds': 'Last submission by account',
    'figures.account': 'Account',
    'figures.lastAdd': 'Last submission',
    'figures.never': 'Never',
    'figures.day': 'Day',
    'figures.asTable': 'Show as a table',
  },
)

addTexts(figures)
