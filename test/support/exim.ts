import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, chown, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { simpleParser, type ParsedMail } from 'mailparser'
import { eventually } from './eventually.ts'
import { freePort } from './free-port.ts'
import { PASSWORD, pathOfPem, USER } from './smtp.ts'

const PROGRAM = '/usr/sbin/exim4'

/** Why tests that need the mail server are skipped; false when it can run. */
export const noExim =
  (spawnSync(PROGRAM, ['-bV'], { stdio: 'ignore' }).error !== undefined &&
    'exim is not installed (Debian package exim4-daemon-light)') ||
  (process.getuid?.() !== 0 && 'exim takes a configuration from root only')

export interface Exim {
  readonly port: number
  /** The mails in the mailbox, parsed, in any order. */
  mails(): Promise<ParsedMail[]>
  log(): Promise<string>
  stop(): Promise<void>
}

/** Exim on loopback, as a submission server: STARTTLS, then a password; `ana` is its only mailbox. */
export async function startExim(): Promise<Exim> {
  const folder = await mkdtemp(join(tmpdir(), 'catalejo-exim-'))
  const { uid, gid } = mailUser()
  for (const name of ['spool', 'log', 'box']) {
    await mkdir(join(folder, name))
    await chown(join(folder, name), uid, gid)
  }
  await chown(folder, uid, gid)
  const pem = join(folder, 'server.pem')
  await copyFile(pathOfPem('loopback'), pem)
  await chown(pem, uid, gid)
  const port = await freePort()
  const config = join(folder, 'exim.conf')
  await writeFile(config, configuration(folder, pem))
  const child = spawn(
    'setpriv',
    [
      '--pdeathsig',
      'KILL',
      PROGRAM,
      '-C',
      config,
      '-bdf',
      '-oX',
      `127.0.0.1.${port}`,
      '-oP',
      join(folder, 'pid'),
    ],
    { stdio: 'ignore' },
  )
  await eventually(() => listens(port), 'exim')
  return {
    port,
    async mails() {
      const box = join(folder, 'box', 'new')
      const names = await readdir(box).catch(() => [])
      return Promise.all(names.map(async (name) => simpleParser(await readFile(join(box, name)))))
    },
    log: () => readFile(join(folder, 'log', 'main'), 'utf8'),
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const exit = once(child, 'exit')
        child.kill('SIGKILL')
        await exit
      }
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The user of the package, which is compiled into the program. */
function mailUser(): { uid: number; gid: number } {
  const id = (flag: string) => Number(spawnSync('id', [flag, 'Debian-exim']).stdout.toString())
  return { uid: id('-u'), gid: id('-g') }
}

function configuration(folder: string, pem: string): string {
  return `
primary_hostname = mail.example.cl
spool_directory = ${folder}/spool
log_file_path = ${folder}/log/%s
local_interfaces = 127.0.0.1
domainlist local = example.cl
tls_advertise_hosts = *
tls_certificate = ${pem}
tls_privatekey = ${pem}
auth_advertise_hosts = \${if eq{$tls_in_cipher}{}{}{*}}
acl_smtp_rcpt = rcpt
queue_only = false
begin acl
rcpt:
  deny !authenticated = *
  deny message = 5.1.1 unknown user
       !recipients = ana@example.cl
  accept
begin routers
box:
  driver = accept
  domains = +local
  transport = box
begin transports
box:
  driver = appendfile
  directory = ${folder}/box
  maildir_format
  user = Debian-exim
  delivery_date_add
begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_prompts = :
  server_condition = \${if and{{eq{$auth2}{${USER}}}{eq{$auth3}{${PASSWORD}}}}}
  server_set_id = $auth2
`
}

async function listens(port: number): Promise<boolean> {
  const socket = createConnection(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
