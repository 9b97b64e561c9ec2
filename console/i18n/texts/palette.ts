import { addTexts, inBoth } from '../dictionary.ts'

/** The list of the command palette. */
export const palette = inBoth(
  {
    'palette.names': 'Nombres',
    'palette.actions': 'En esta pantalla',
    'palette.screens': 'Pantallas',
    'palette.choices': 'Preferencias',
    'palette.theme': 'Apariencia: {theme}',
    'palette.language': 'Idioma: English',
    'palette.search': 'Buscar «{text}» en Dominios',
    'palette.asking': 'Buscando nombres…',
    'palette.found.one': '{n} resultado',
    'palette.found.other': '{n} resultados',
    'palette.nothing': 'Nada coincide',
  },
  {
    'palette.names': 'Names',
    'palette.actions': 'On this screen',
    'palette.screens': 'Screens',
    'palette.choices': 'Preferences',
    'palette.theme': 'Theme: {theme}',
    'palette.language': 'Language: español',
    'palette.search': 'Search for “{text}” in Domains',
    'palette.asking': 'Searching for names…',
    'palette.found.one': '{n} result',
    'palette.found.other': '{n} results',
    'palette.nothing': 'Nothing matches',
  },
)

addTexts(palette)
