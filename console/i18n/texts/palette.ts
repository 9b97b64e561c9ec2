import { addTexts } from '../dictionary.ts'

/** The list of the command palette. */
export const palette = addTexts({
  'palette.names': ['Nombres', 'Names'],
  'palette.actions': ['En esta pantalla', 'On this screen'],
  'palette.choices': ['Preferencias', 'Preferences'],
  'palette.theme': ['Tema: {theme}', 'Theme: {theme}'],
  'palette.themeAlso': ['modo apariencia', 'mode appearance'],
  'palette.language': ['Idioma: English', 'Language: español'],
  'palette.search': ['Buscar «{text}» en Dominios', 'Search for “{text}” in Domains'],
  'palette.asking': ['Buscando nombres…', 'Searching for names…'],
  'palette.found': ['{n} resultado | {n} resultados', '{n} result | {n} results'],
  'palette.nothing': ['Nada coincide', 'Nothing matches'],
})
