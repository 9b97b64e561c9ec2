import { fileURLToPath } from 'node:url'
import { defineConfig, type DefaultTheme } from 'vitepress'
import { toAnchor, toSiteLink, toSitePath } from '../links.ts'
import { ENGLISH, SPANISH, type Sidebar } from '../sidebar.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

const toSidebar = (groups: Sidebar): DefaultTheme.SidebarItem[] =>
  Object.entries(groups).map(([text, pages]) => ({
    text,
    items: Object.entries(pages).map(([page, title]) => ({ text: title, link: `/${page}` })),
  }))

export default defineConfig({
  title: 'Catalejo',
  srcDir: root,
  outDir: `${root}site`,
  cacheDir: fileURLToPath(new URL('../node_modules/.vitepress', import.meta.url)),
  srcExclude: ['{assembly,bench,console,deploy,scripts,src,test,.github}/**'],
  rewrites: toSitePath,
  metaChunk: true,
  markdown: {
    anchor: { slugify: toAnchor },
    config(md) {
      // Links between files of the repository lead to pages of the site; names of sources stay, as text.
      md.core.ruler.push('links-of-the-site', ({ tokens, env }) => {
        const page = String(env.realPath ?? env.path).slice(root.length)
        for (const { children } of tokens) {
          let link: string | null = null
          for (const token of children ?? []) {
            if (token.type === 'link_open') {
              link = toSiteLink(root, page, token.attrGet('href') ?? '')
              token.attrSet('href', link ?? '')
            }
            if (token.type.startsWith('link_') && link === null) token.type = 'text'
          }
        }
      })
    },
  },
  locales: {
    root: { label: 'English', lang: 'en', themeConfig: { sidebar: toSidebar(ENGLISH) } },
    es: {
      label: 'Español',
      lang: 'es',
      themeConfig: {
        sidebar: toSidebar(SPANISH),
        outline: { label: 'En esta página' },
        docFooter: { prev: 'Anterior', next: 'Siguiente' },
        darkModeSwitchLabel: 'Apariencia',
        sidebarMenuLabel: 'Menú',
        returnToTopLabel: 'Volver arriba',
        langMenuLabel: 'Idioma',
        skipToContentLabel: 'Ir al contenido',
      },
    },
  },
  themeConfig: {
    // Pages of the two languages do not correspond one to one.
    i18nRouting: false,
    outline: [2, 3],
    search: {
      provider: 'local',
      options: {
        locales: {
          es: {
            translations: {
              button: { buttonText: 'Buscar', buttonAriaLabel: 'Buscar' },
              modal: {
                displayDetails: 'Mostrar detalles',
                resetButtonTitle: 'Borrar la búsqueda',
                backButtonTitle: 'Cerrar la búsqueda',
                noResultsText: 'No hay resultados para',
                footer: { selectText: 'abrir', navigateText: 'elegir', closeText: 'cerrar' },
              },
            },
          },
        },
      },
    },
  },
})
