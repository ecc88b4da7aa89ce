/** What every request pays: o200k tokens of identity, guidance and the schemas of the default toolset. */
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { GUIDANCE, IDENTITY } from '#core/agent/prompts.rules.ts';
import type { BenchRow } from './bench-row.ts';
import { benchHome, run, startStub, talaria } from './stub.ts';

export async function benchFixedPrompt(): Promise<readonly BenchRow[]> {
  const stub = await startStub({ rounds: 0, bodies: true });
  const home = benchHome(stub.baseUrl);
  try {
    const ran = await run('sh', [talaria, '-p', 'hello'], { env: home.env });
    const body = stub.take()[0]?.body;
    if (!body) throw new Error(`no request arrived: ${ran.err.slice(0, 400)}`);
    const words = countTokens(`${IDENTITY}\n\n${GUIDANCE}`);
    const schemas = countTokens(JSON.stringify(body.tools ?? []));
    const value = words + schemas;
    const note = `${words} of identity and guidance, ${schemas} of ${body.tools?.length ?? 0} schemas as sent`;
    return [
      {
        metric: 'fixed prompt',
        value,
        target: '≤ 1500',
        unit: 'o200k tokens',
        ok: value <= 1_500,
        note,
      },
    ];
  } finally {
    stub.stop();
    home.remove();
  }
}
