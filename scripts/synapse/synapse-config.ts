/**
 * The files of a homeserver that serves tests on loopback: open registration, no limits of rate, no federation, nothing that
 * looks further than this machine. Knows no process. Everything lies in one folder, which can be deleted.
 */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface SynapseFiles {
  readonly folder: string;
  readonly port: number;
}

/** Writes the files and returns the path of the configuration. JSON is YAML, so the server reads it. */
export function writeSynapseConfig({ folder, port }: SynapseFiles): string {
  const at = (name: string): string => join(folder, name);
  const seed = randomBytes(32).toString('base64').replace(/=+$/, '');
  writeFileSync(at('signing.key'), `ed25519 a_test ${seed}\n`, { mode: 0o600 });
  write(at('log.yaml'), {
    version: 1,
    formatters: { line: { format: '%(levelname)s %(name)s %(message)s' } },
    handlers: { file: { class: 'logging.FileHandler', filename: at('homeserver.log'), formatter: 'line' } },
    root: { level: 'WARNING', handlers: ['file'] },
  });
  write(at('homeserver.yaml'), {
    server_name: 'localhost',
    public_baseurl: `http://127.0.0.1:${port}/`,
    listeners: [{ port, type: 'http', bind_addresses: ['127.0.0.1'], resources: [{ names: ['client'] }] }],
    database: { name: 'sqlite3', args: { database: at('homeserver.db') } },
    log_config: at('log.yaml'),
    no_redirect_stdio: true,
    signing_key_path: at('signing.key'),
    media_store_path: at('media'),
    pid_file: at('homeserver.pid'),
    macaroon_secret_key: randomBytes(24).toString('hex'),
    form_secret: randomBytes(24).toString('hex'),
    enable_registration: true,
    enable_registration_without_verification: true,
    bcrypt_rounds: 4,
    report_stats: false,
    enable_metrics: false,
    url_preview_enabled: false,
    presence: { enabled: false },
    trusted_key_servers: [],
    federation_domain_whitelist: [],
    allow_public_rooms_over_federation: false,
    ...unlimited(),
  });
  return at('homeserver.yaml');
}

function unlimited(): Readonly<Record<string, unknown>> {
  const free = { per_second: 100_000, burst_count: 100_000 };
  return {
    rc_message: free,
    rc_registration: free,
    rc_registration_token_validity: free,
    rc_login: { address: free, account: free, failed_attempts: free },
    rc_admin_redaction: free,
    rc_joins: { local: free, remote: free },
    rc_joins_per_room: free,
    rc_3pid_validation: free,
    rc_invites: { per_room: free, per_user: free, per_issuer: free },
    rc_third_party_invite: free,
    rc_room_creation: free,
    rc_key_requests: free,
    rc_user_directory: free,
  };
}

function write(path: string, value: unknown): void {
  writeFileSync(path, JSON.stringify(value, null, 2), { mode: 0o600 });
}
