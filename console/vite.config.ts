import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** The files that `src/console` serves: hashed names in `assets/`, addresses relative to wherever they are served. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  plugins: [react()],
  build: {
    outDir: '../assets/console',
    target: 'es2023',
    assetsInlineLimit: 0,
    // Styles in one file, which the page has from the start: a screen that is fetched later cannot lack its own.
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    license: { fileName: 'licences.md' },
  },
})
