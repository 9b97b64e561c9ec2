import { inBoth } from '../in-both.ts'

/** The first screen. */
export const home = inBoth(
  {
    'home.records': 'Dominios registrados',
    'home.registered': 'Inscritos en 7 días',
    'home.deleted': 'Eliminados en 7 días',
    'home.newest': 'Últimos inscritos',
    'home.gone': 'Últimos eliminados',
    'home.inReview': 'En revisión',
    'home.none': 'Ninguno',
    'home.room': 'Espacio que queda',
    'home.first': 'Primeros pasos',
    'home.firstDomains': 'Cargue la lista de inscripciones del registro',
    'home.firstImages': 'Suba la primera imagen',
  },
  {
    'home.records': 'Recorded domains',
    'home.registered': 'Registered in 7 days',
    'home.deleted': 'Deleted in 7 days',
    'home.newest': 'Newest registrations',
    'home.gone': 'Newest deletions',
    'home.inReview': 'In review',
    'home.none': 'None',
    'home.room': 'Room that is left',
    'home.first': 'First steps',
    'home.firstDomains': "Load the registry's list of registrations",
    'home.firstImages': 'Upload the first image',
  },
)
