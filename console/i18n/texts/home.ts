import { addTexts, inBoth } from '../dictionary.ts'

/** The first screen. */
export const home = inBoth(
  {
    'home.records': 'Dominios guardados',
    'home.registered': 'Inscritos en 7 días',
    'home.deleted': 'Eliminados en 7 días',
    'home.newest': 'Últimos inscritos',
    'home.gone': 'Últimos eliminados',
    'home.free': 'Libres',
    'home.inReview': 'En revisión',
    'home.discarded': 'Descartados',
    'home.none': 'Ninguno',
    'home.room': 'Espacio disponible',
    'home.waiting': 'Le espera',
    'home.unseen': 'Libres sin ver',
    'home.failing': 'Alertas que fallan',
    'home.first': 'Primeros pasos',
    'home.firstDomains': 'Importe la lista de inscripciones del registro',
    'home.firstImages': 'Suba la primera imagen',
  },
  {
    'home.records': 'Stored domains',
    'home.registered': 'Registered in the last 7 days',
    'home.deleted': 'Deleted in the last 7 days',
    'home.newest': 'Latest registrations',
    'home.gone': 'Latest deletions',
    'home.free': 'Free',
    'home.inReview': 'In review',
    'home.discarded': 'Discarded',
    'home.none': 'None',
    'home.room': 'Free space',
    'home.waiting': 'Waiting for you',
    'home.unseen': 'Free and unseen',
    'home.failing': 'Failing alerts',
    'home.first': 'First steps',
    'home.firstDomains': "Import the registry's list of registrations",
    'home.firstImages': 'Upload the first image',
  },
)

addTexts(home)
