import type { ChannelSettings } from '../domainwatch/index.ts'
import type { Config } from './config/config.ts'

type MailConfig = Pick<Config, 'smtpUrl' | 'smtpFrom' | 'smtpTls'>
type ChannelConfig = MailConfig & Pick<Config, 'telegramToken' | 'telegramUrl' | 'ntfyUrl' | 'ntfyToken'>

/** Returns what the operator has configured for messages of watches. */
export function channelSettings(config: ChannelConfig): ChannelSettings {
  const { telegramToken: token, telegramUrl: url, ntfyUrl, ntfyToken } = config
  return {
    telegram: token === '' ? undefined : { token, url },
    ntfy: { url: ntfyUrl, token: ntfyToken },
    email: emailSettings(config),
  }
}

function emailSettings({ smtpUrl, smtpFrom: from, smtpTls }: MailConfig): ChannelSettings['email'] {
  if (smtpUrl === undefined || from === '') return undefined
  const { isTls, ...server } = smtpUrl
  return { ...server, from, encryption: isTls ? 'tls' : smtpTls === 'off' ? 'none' : 'starttls' }
}
