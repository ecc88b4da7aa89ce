import { innerCallContract, type Part } from './inner-call.contract.ts';
import { createScriptedCall, type ScriptedInner } from './scripted-call.ts';

function stepOf(part: Part): ScriptedInner {
  switch (part.plays) {
    case 'reply':
      return part.text;
    case 'echo':
      return ({ prompt }) => prompt;
    case 'flood':
      return 'x'.repeat(part.chars);
    case 'hang':
      return { hang: true };
    case 'fail':
      return { refuse: 'runtime_error', detail: 'the script says that it failed' };
    case 'silence':
      return '';
  }
}

innerCallContract('scripted call', { make: (_, part) => createScriptedCall(() => stepOf(part)) });
