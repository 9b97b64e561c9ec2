/** How a service marks up text. Every function escapes what it is given. */
export interface Markup {
  text(text: string): string
  title(text: string): string
  name(name: string, url: string): string
  link(label: string, url: string): string
}

/** Text without markup. */
export const plainText: Markup = {
  text: (text) => text,
  title: (text) => text,
  name: (name) => name,
  link: (label, url) => `${label}: ${url}`,
}

const REFERENCES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"]/g, (character) => REFERENCES[character] ?? character)

/** HTML of the Telegram Bot API. Names are code, because clients would turn them into links to the domains. */
export const telegramHtml: Markup = {
  text: escapeHtml,
  title: (text) => `<b>${escapeHtml(text)}</b>`,
  name: (name) => `<code>${escapeHtml(name)}</code>`,
  link: (label, url) => `<a href="${escapeHtml(url)}">${escapeHtml(label)}</a>`,
}

const escapeSlack = (text: string) =>
  text.replaceAll(/[&<>]/g, (character) => REFERENCES[character] ?? character)

/** Text of Slack messages with `mrkdwn` off, where only `&`, `<` and `>` have a meaning. */
export const slackText: Markup = {
  text: escapeSlack,
  title: escapeSlack,
  name: escapeSlack,
  link: (label, url) => `<${escapeSlack(url)}|${escapeSlack(label)}>`,
}

/** Discord takes a backslash before any ASCII punctuation as an escape. */
const escapeDiscord = (text: string) => text.replaceAll(/[!-/:-@[-`{-~]/g, '\\$&')

/** Markdown of Discord messages. Names are code, where no escape exists, but they never contain a backtick. */
export const discordMarkdown: Markup = {
  text: escapeDiscord,
  title: (text) => `**${escapeDiscord(text)}**`,
  name: (name) => `\`${name.replaceAll('`', "'")}\``,
  link: (label, url) => `[${escapeDiscord(label)}](<${url}>)`,
}

/** HTML of mails. */
export const mailHtml: Markup = {
  text: escapeHtml,
  title: (text) => `<h1 style="font-size:1.2em">${escapeHtml(text)}</h1>`,
  name: (name, url) => `<a href="${escapeHtml(url)}"><b>${escapeHtml(name)}</b></a>`,
  link: (label, url) => `<a href="${escapeHtml(url)}">${escapeHtml(label)}</a>`,
}
