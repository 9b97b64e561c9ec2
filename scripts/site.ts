/** Builds the documentation as a site, in the folder `site`. Arguments are those of `vitepress build`, such as `--base /docs/`. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { installPackages } from './install-packages.ts'

installPackages('scripts/site')
const folder = fileURLToPath(new URL('site', import.meta.url))
const vitepress = `${folder}/node_modules/vitepress/bin/vitepress.js`
execFileSync(process.execPath, [vitepress, 'build', folder, ...process.argv.slice(2)], { stdio: 'inherit' })
