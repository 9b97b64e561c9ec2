// The fonts of the reader's system: the site loads nothing from elsewhere.
export { default } from 'vitepress/theme-without-fonts'
