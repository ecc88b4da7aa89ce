// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ERC2771Context} from "@openzeppelin/contracts/metatx/ERC2771Context.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";

/// What a token of the kind of USDC takes besides ERC-20 (ERC-3009).
interface IReceiver {
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes calldata signature
    ) external;
}

/// Owns the money between payment and delivery: jobs of ERC-8183 (draft text, without hooks, without fee) over one token.
/// Invariants: the token balance is at least the sum of the budgets of all funded and submitted jobs; a job leaves Completed, Rejected and Expired
/// never; nobody but the roles named in a job moves it, save that after its expiry anybody gives the client the money back.
/// `fundByAuthorization` is an addition to the draft and no change of it: one signature of the client makes and funds a job.
contract JobEscrow is ERC2771Context, ReentrancyGuardTransient {
    using SafeERC20 for IERC20;
    using SafeCast for uint256;

    enum Status { Open, Funded, Submitted, Completed, Rejected, Expired }

    struct Job {
        address client;
        uint48 expiredAt;
        Status status;
        address provider;
        uint96 budget;
        address evaluator;
        bytes32 deliverable;
        string description;
    }

    /// What the client signs for, with the description, in the nonce of the payment. `expiredAt`: seconds of the epoch.
    struct Terms {
        address client;
        address provider;
        address evaluator;
        uint256 budget;
        uint48 expiredAt;
    }

    struct Authorization {
        uint256 validAfter;
        uint256 validBefore;
        bytes signature;
    }

    IERC20 public immutable token;
    uint256 public lastJob;
    mapping(uint256 jobId => Job) private _jobs;
    /// Of what was funded by authorization; 0: nothing.
    mapping(bytes32 nonce => uint256 jobId) public jobOfNonce;

    event JobCreated(uint256 indexed jobId, address indexed client, address indexed provider, address evaluator, uint256 expiredAt);
    event ProviderSet(uint256 indexed jobId, address indexed provider);
    event BudgetSet(uint256 indexed jobId, uint256 amount);
    event JobFunded(uint256 indexed jobId, address indexed client, uint256 amount);
    event JobSubmitted(uint256 indexed jobId, address indexed provider, bytes32 deliverable);
    event JobCompleted(uint256 indexed jobId, address indexed evaluator, bytes32 reason);
    event JobRejected(uint256 indexed jobId, address indexed rejector, bytes32 reason);
    event JobExpired(uint256 indexed jobId);
    event PaymentReleased(uint256 indexed jobId, address indexed provider, uint256 amount);
    event Refunded(uint256 indexed jobId, address indexed client, uint256 amount);

    error WrongStatus(Status status);
    error NotYours(address caller);
    error NoEvaluator();
    error NoProvider();
    error ProviderKnown();
    error NoBudget();
    error WrongBudget(uint256 budget);
    error PastExpiry();
    error NotExpired();
    error NoHooks();
    error WrongAmount(uint256 received);

    constructor(IERC20 token_, address forwarder) ERC2771Context(forwarder) {
        token = token_;
    }

    /// `provider` may be zero and be set later; `hook` must be zero.
    function createJob(address provider, address evaluator, uint256 expiredAt, string calldata description, address hook)
        external
        returns (uint256)
    {
        if (hook != address(0)) revert NoHooks();
        return _create(_msgSender(), provider, evaluator, expiredAt, description);
    }

    function setProvider(uint256 jobId, address provider, bytes calldata) external {
        Job storage job = _at(jobId, Status.Open);
        _only(job.client);
        if (job.provider != address(0)) revert ProviderKnown();
        if (provider == address(0)) revert NoProvider();
        job.provider = provider;
        emit ProviderSet(jobId, provider);
    }

    function setBudget(uint256 jobId, uint256 amount, bytes calldata) external {
        Job storage job = _at(jobId, Status.Open);
        if (_msgSender() != job.provider) _only(job.client);
        job.budget = amount.toUint96();
        emit BudgetSet(jobId, amount);
    }

    function fund(uint256 jobId, uint256 expectedBudget, bytes calldata) external nonReentrant {
        Job storage job = _at(jobId, Status.Open);
        _only(job.client);
        uint256 budget = job.budget;
        if (budget == 0) revert NoBudget();
        if (job.provider == address(0)) revert NoProvider();
        if (budget != expectedBudget) revert WrongBudget(budget);
        job.status = Status.Funded;
        uint256 before = token.balanceOf(address(this));
        token.safeTransferFrom(job.client, address(this), budget);
        _received(before, budget);
        emit JobFunded(jobId, job.client, budget);
    }

    /// Nonce of the ERC-3009 authorization that pays for a job of these terms and no other, here and nowhere else.
    function nonceOf(Terms calldata terms, string calldata description) public view returns (bytes32) {
        return keccak256(abi.encode(block.chainid, address(this), terms, keccak256(bytes(description))));
    }

    /// Anybody may send it: what the client signed says everything. The token refuses the same authorization a second time.
    function fundByAuthorization(Terms calldata terms, string calldata description, Authorization calldata given)
        external
        nonReentrant
        returns (uint256 jobId)
    {
        if (terms.provider == address(0)) revert NoProvider();
        if (terms.budget == 0) revert NoBudget();
        bytes32 nonce = nonceOf(terms, description);
        jobId = _create(terms.client, terms.provider, terms.evaluator, terms.expiredAt, description);
        Job storage job = _jobs[jobId];
        job.budget = terms.budget.toUint96();
        job.status = Status.Funded;
        jobOfNonce[nonce] = jobId;
        emit BudgetSet(jobId, terms.budget);
        uint256 before = token.balanceOf(address(this));
        IReceiver(address(token)).receiveWithAuthorization(
            terms.client, address(this), terms.budget, given.validAfter, given.validBefore, nonce, given.signature
        );
        _received(before, terms.budget);
        emit JobFunded(jobId, terms.client, terms.budget);
    }

    function submit(uint256 jobId, bytes32 deliverable, bytes calldata) external {
        Job storage job = _at(jobId, Status.Funded);
        _only(job.provider);
        job.status = Status.Submitted;
        job.deliverable = deliverable;
        emit JobSubmitted(jobId, job.provider, deliverable);
    }

    function complete(uint256 jobId, bytes32 reason, bytes calldata) external nonReentrant {
        Job storage job = _at(jobId, Status.Submitted);
        _only(job.evaluator);
        job.status = Status.Completed;
        emit JobCompleted(jobId, job.evaluator, reason);
        emit PaymentReleased(jobId, job.provider, job.budget);
        token.safeTransfer(job.provider, job.budget);
    }

    function reject(uint256 jobId, bytes32 reason, bytes calldata) external nonReentrant {
        Job storage job = _jobs[jobId];
        Status was = job.status;
        if (was > Status.Submitted) revert WrongStatus(was);
        _only(was == Status.Open ? job.client : job.evaluator);
        job.status = Status.Rejected;
        emit JobRejected(jobId, _msgSender(), reason);
        if (was != Status.Open) _refund(jobId, job);
    }

    function claimRefund(uint256 jobId) external nonReentrant {
        Job storage job = _jobs[jobId];
        if (job.status != Status.Funded && job.status != Status.Submitted) revert WrongStatus(job.status);
        if (block.timestamp < job.expiredAt) revert NotExpired();
        job.status = Status.Expired;
        emit JobExpired(jobId);
        _refund(jobId, job);
    }

    function jobs(uint256 jobId) external view returns (address, address, address, uint256, Status, uint256, bytes32) {
        Job storage job = _jobs[jobId];
        return (job.client, job.provider, job.evaluator, job.expiredAt, job.status, job.budget, job.deliverable);
    }

    function descriptionOf(uint256 jobId) external view returns (string memory) {
        return _jobs[jobId].description;
    }

    function _create(address client, address provider, address evaluator, uint256 expiredAt, string calldata description)
        private
        returns (uint256 jobId)
    {
        if (evaluator == address(0)) revert NoEvaluator();
        if (expiredAt <= block.timestamp) revert PastExpiry();
        jobId = ++lastJob;
        Job storage job = _jobs[jobId];
        job.client = client;
        job.expiredAt = expiredAt.toUint48();
        job.provider = provider;
        job.evaluator = evaluator;
        job.description = description;
        emit JobCreated(jobId, client, provider, evaluator, expiredAt);
    }

    function _refund(uint256 jobId, Job storage job) private {
        emit Refunded(jobId, job.client, job.budget);
        token.safeTransfer(job.client, job.budget);
    }

    function _at(uint256 jobId, Status wanted) private view returns (Job storage job) {
        job = _jobs[jobId];
        if (job.status != wanted) revert WrongStatus(job.status);
    }

    /// Of a job that nobody made every role is zero, and zero calls nothing.
    function _only(address role) private view {
        if (_msgSender() != role) revert NotYours(_msgSender());
    }

    /// A token that takes a fee of what it moves would leave the last client short.
    function _received(uint256 before, uint256 budget) private view {
        uint256 received = token.balanceOf(address(this)) - before;
        if (received != budget) revert WrongAmount(received);
    }
}
